import { html } from "hono/html";
import { csrfField, type Markup } from "./page.ts";

/** What a page asks its owner to decide: who asks, how to tell that it is the right one, and what he would grant. */
export interface RequestCard {
  readonly heading: string;
  readonly intro: string;
  /** Where the code is shown too, and the code. */
  readonly code: { readonly where: string; readonly value: string };
  readonly facts: readonly { readonly name: string; readonly value: string }[];
  readonly rightsHeading: string;
  readonly rights: readonly string[];
  readonly footnote: string;
  /** Where the form is posted; the field `decision` says `approve` or `decline`. */
  readonly action: string;
  readonly csrfToken: string;
  readonly approveLabel: string;
}

/** Where the human decides about one request. */
export function requestCard(card: RequestCard): Markup {
  return html`<section class="card" aria-labelledby="question">
<h1 id="question">${card.heading}</h1>
<p>${card.intro}</p>
<div class="code"><p>Must match the code ${card.code.where}</p><strong>${card.code.value}</strong></div>
<dl>${card.facts.map(({ name, value }) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
<h2>${card.rightsHeading}</h2>
<ul>${card.rights.map((right) => html`<li>${right}</li>`)}</ul>
<p class="muted">${card.footnote}</p>
<form method="post" action="${card.action}">
${csrfField(card.csrfToken)}
<div class="actions">
<button class="primary" name="decision" value="approve">${card.approveLabel}</button>
<button class="secondary" name="decision" value="decline">Decline</button>
</div>
</form>
</section>`;
}

/** What a key lets its holder do, for the human who is about to hand one out. `apps` are names of connected apps. */
export function listKeyRights(apps: readonly string[]): string[] {
  return [
    `Read from your connected apps (${apps.length === 0 ? "none yet" : apps.join(", ")}) without asking you each time.`,
    "Change things there when a call says that a person confirmed it.",
    "It cannot approve devices, sign in here or change your connections.",
  ];
}
