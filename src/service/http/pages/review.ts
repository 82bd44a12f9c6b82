import type { Hono } from "hono";
import { html } from "hono/html";
import { appStopped } from "../../../apps/port/create-added-integration.ts";
import { type IntegrationSource, isStopped } from "../../../apps/port/source.ts";
import {
  compareContents,
  type Difference,
  type StoredAction,
  summariseDifferences,
} from "../../../apps/port/source-content.ts";
import { parseExactly } from "../../../shared/base/exact-number.ts";
import { ServiceError } from "../../service-error.ts";
import { ownerPages } from "../owner-browser.ts";
import type { RouteEnv } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import { AGREE_FORM, levelField, levelRows, ownLevelsChoice, readLevelChoice } from "./level-choice.ts";
import { csrfField, type Markup, messageBody } from "./page.ts";
import { timeTag } from "./values.ts";

const CHANGED_AGAIN = "The app changed again meanwhile. Nothing was decided: these are the changes now.";

const FIRST = {
  title: "Actions of",
  added: "Offered",
  accept: "Use these actions",
  dismissed: "Dismissed actions are not asked about again, until the app offers others.",
} as const;
const LATER = {
  title: "Changes of",
  added: "New",
  accept: "Use the changed actions",
  dismissed:
    "Dismissed changes are not asked about again, until the app changes once more: what you agreed to stays in use, and changed actions are not run.",
} as const;

/** An app that was just signed in to has no actions that its owner agreed to. */
function chooseWords({ content }: IntegrationSource): typeof FIRST | typeof LATER {
  return content.actions.length === 0 ? FIRST : LATER;
}

const WHAT_LEVELS_DO = "A read runs without a question. Before everything else a person is asked.";

/** The page on which the owner agrees to changed actions of an added app, or does not, and chooses levels. */
export function addReviewPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { addPage, addForm } = ownerPages(app, parts);
  const show = (source: IntegrationSource, csrfToken: string, problem?: string) =>
    ({
      title: `${source.proposal === undefined ? "Levels of" : chooseWords(source).title} ${source.name}`,
      body: reviewBody({ source, csrfToken, now: parts.now(), problem }),
      section: "connections",
      status: problem === undefined ? 200 : 409,
    }) as const;
  addPage("/apps/:slug/review", async (c, { csrfToken }) =>
    show(await requireSource(parts, c.req.param("slug")), csrfToken),
  );
  const addDecision = (
    name: "accept" | "dismiss",
    decide: (source: IntegrationSource, form: URLSearchParams) => Promise<boolean>,
  ) =>
    addForm(`/apps/:slug/${name}`, async (c, { owner, form, audit }) => {
      const source = await requireSource(parts, c.req.param("slug"));
      const isDone = form.get("digest") === digestShown(source) && (await decide(source, form));
      if (!isDone) return show(await requireSource(parts, source.slug), owner.csrfToken, CHANGED_AGAIN);
      await parts.refreshApps();
      const did = { accept: "agreed to actions and levels of the app", dismiss: "dismissed changes of the app" };
      audit({ event: `app.${name}ed`, did: did[name], name: source.name, id: source.slug });
      return `/connections?notice=${source.proposal === undefined ? "levels" : `${name}ed`}`;
    });
  addDecision("accept", (source, form) =>
    parts.sources.setLevels(source, readLevelChoice(form, source, parts.now()), { takesProposal: true }),
  );
  addDecision("dismiss", ({ slug, proposal }) => parts.sources.dismiss(slug, proposal?.digest ?? ""));
}

/** Changes with everything that the page shows of an app. */
function digestShown({ revision, proposal }: IntegrationSource): string {
  return `${revision}.${proposal?.digest ?? ""}`;
}

async function requireSource({ sources }: ServiceParts, slug: string): Promise<IntegrationSource> {
  const source = await sources.find(slug);
  if (source !== undefined && isStopped(source)) throw appStopped(source);
  if (source !== undefined) return source;
  throw new ServiceError(
    404,
    "integration_not_found",
    "No app of this name was added. The connections page lists all.",
  );
}

interface ReviewPage {
  readonly source: IntegrationSource;
  readonly csrfToken: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Said above everything else, when the proposal is not the one that was decided about. */
  readonly problem: string | undefined;
}

/** The proposed changes of an added app in full, the levels of all its actions, and the decision form. */
function reviewBody({ source, csrfToken, now, problem }: ReviewPage): Markup {
  const { slug, name, content, proposal } = source;
  const notice = problem === undefined ? "" : html`<p class="notice warn" role="alert">${problem}</p>`;
  const fields = html`${csrfField(csrfToken)}<input type="hidden" name="digest" value="${digestShown(source)}">`;
  const agree = (
    button: string,
    others: Markup,
  ) => html`<form id="${AGREE_FORM}" method="post" action="/apps/${slug}/accept">${fields}
${ownLevelsChoice(source)}<div class="actions"><button class="primary">${button}</button>${others}</div></form>`;
  if (proposal === undefined && content.actions.length === 0) {
    const next = html`<p><a href="/connections">Go to the connections</a></p>`;
    return messageBody({ heading: "Nothing to review", text: `${name} has no actions yet.`, next });
  }
  if (proposal === undefined) {
    return html`<h1>Levels of ${name}</h1>
<p class="lead">${name} offers what you agreed to.</p>
${notice}
<section class="card" aria-labelledby="levels"><h2 id="levels">Levels</h2><p class="muted">${WHAT_LEVELS_DO}</p>${levelRows(content.actions, source)}</section>
<section class="card">${agree("Save the levels", html`<a href="/connections">Back</a>`)}</section>`;
  }
  const differences = compareContents(content, proposal.content);
  const { added, removed, changed } = differences;
  const told = new Set([...added, ...changed].map(({ id }) => id));
  const same = proposal.content.actions.filter(({ id }) => !told.has(id));
  const level = new Map(proposal.content.actions.map((action) => [action.id, levelField(action, source)]));
  const words = chooseWords(source);
  const summary = words === FIRST ? "None is used before you agree." : summariseDifferences(differences);
  return html`<h1>${words.title} ${name}</h1>
<p class="lead">${summary} Found ${timeTag(proposal.foundAt, now)}.</p>
${notice}
${part(
  "changed",
  "Changed",
  changed.map((one) => changedAction(one, level.get(one.id))),
)}
${part(
  "removed",
  "Gone",
  removed.map((id) => html`<li><code>${showHidden(id)}</code></li>`),
)}
${part(
  "added",
  words.added,
  added.map((action) => newAction(action, level.get(action.id))),
)}
${same.length === 0 ? "" : html`<details class="card"><summary>Levels of all other actions (${same.length})</summary>${levelRows(same, source)}</details>`}
<section class="card" aria-labelledby="decide">
<h2 id="decide">Your decision</h2>
<p>What an app says of its own actions is what your agents read and act on. Agree only to what you would tell them yourself.</p>
<p>${WHAT_LEVELS_DO}</p>
<p class="muted">${words.dismissed}</p>
<form id="dismiss" method="post" action="/apps/${slug}/dismiss">${fields}</form>
${agree(words.accept, html`<button form="dismiss">Dismiss</button><a href="/connections">Decide later</a>`)}
</section>`;
}

function part(id: string, heading: string, entries: readonly Markup[]): Markup {
  if (entries.length === 0) return html``;
  return html`<section class="card" aria-labelledby="${id}"><h2 id="${id}">${heading}</h2><ul class="changes">${entries}</ul></section>`;
}

function changedAction(
  { id, differences }: { id: string; differences: readonly Difference[] },
  level: Markup | undefined,
): Markup {
  return html`<li><h3><code>${showHidden(id)}</code></h3>${differences.map(
    ({ path, was, is }) =>
      html`<p class="muted">${showHidden(path)}</p><dl class="versions"><dt>Agreed</dt><dd>${version(was)}</dd><dt>Now</dt><dd>${version(is)}</dd></dl>`,
  )}${level}</li>`;
}

function newAction({ id, title, description, inputSchema }: StoredAction, level: Markup | undefined): Markup {
  return html`<li><h3><code>${showHidden(id)}</code></h3>
<p class="text">${showHidden(description || title)}</p>
<details><summary>Arguments<span class="hidden"> of ${showHidden(id)}</span></summary><pre tabindex="0">${showHidden(JSON.stringify(inputSchema, null, 2))}</pre></details>${level}</li>`;
}

function version(json: string | undefined): Markup {
  if (json === undefined) return html`<span class="muted">nothing</span>`;
  // Texts in their quotes: "5" is not 5, and a space at the end is one.
  return html`<span class="text">${showHidden(JSON.stringify(parseExactly(json), null, 2))}</span>`;
}

/** Characters that show nothing or turn the text around, as `\uXXXX`: a change must not hide in them. Line breaks stay. */
function showHidden(text: string): string {
  return text.replaceAll(
    /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]/gu,
    (character) =>
      Array.from(
        { length: character.length },
        (_none, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
      ).join(""),
  );
}
