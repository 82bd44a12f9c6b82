import type { Hono } from "hono";
import { html } from "hono/html";
import { type IntegrationSource, isStopped } from "../../added/source.ts";
import {
  compareContents,
  type Difference,
  type StoredAction,
  summariseDifferences,
} from "../../added/source-content.ts";
import { appStopped } from "../../catalog/not-found.ts";
import { ServiceError } from "../../service-error.ts";
import { ownerPages } from "../owner-browser.ts";
import type { RouteEnv } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import { csrfField, type Markup, messageBody } from "./page.ts";
import { tag, timeTag } from "./values.ts";

const CHANGED_AGAIN = "The app changed again meanwhile. Nothing was decided: these are the changes now.";

/** The page on which the owner agrees to changed actions of an added app, or does not. */
export function addReviewPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { addPage, addForm } = ownerPages(app, parts);
  const show = (source: IntegrationSource, csrfToken: string, problem?: string) =>
    ({
      title: `Changes of ${source.name}`,
      body: reviewBody({ source, csrfToken, now: parts.now(), problem }),
      section: "connections",
      status: problem === undefined ? 200 : 409,
    }) as const;
  addPage("/apps/:slug/review", async (c, { csrfToken }) =>
    show(await requireSource(parts, c.req.param("slug")), csrfToken),
  );
  for (const [decision, notice] of [
    ["accept", "accepted"],
    ["dismiss", "dismissed"],
  ] as const) {
    addForm(`/apps/:slug/${decision}`, async (c, { owner, form }) => {
      const { slug } = await requireSource(parts, c.req.param("slug"));
      if (await parts.sources[decision](slug, form.get("digest") ?? "")) {
        await parts.refreshApps();
        return `/connections?notice=${notice}`;
      }
      return show(await requireSource(parts, slug), owner.csrfToken, CHANGED_AGAIN);
    });
  }
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

/** The proposed changes of an added app in full, and the decision form. */
function reviewBody({ source, csrfToken, now, problem }: ReviewPage): Markup {
  const { slug, name, content, proposal } = source;
  if (proposal === undefined) return nothingBody(name);
  const differences = compareContents(content, proposal.content);
  const { added, removed, changed } = differences;
  const decide = (action: string, button: Markup) =>
    html`<form method="post" action="/apps/${slug}/${action}">${csrfField(csrfToken)}<input type="hidden" name="digest" value="${proposal.digest}">${button}</form>`;
  return html`<h1>Changes of ${name}</h1>
<p class="lead">${summariseDifferences(differences)} Found ${timeTag(proposal.foundAt, now)}.</p>
${problem === undefined ? "" : html`<p class="notice warn" role="alert">${problem}</p>`}
${part("changed", "Changed", changed.map(changedAction))}
${part(
  "removed",
  "Gone",
  removed.map((id) => html`<li><code>${showHidden(id)}</code></li>`),
)}
${part("added", "New", added.map(newAction))}
<section class="card" aria-labelledby="decide">
<h2 id="decide">Your decision</h2>
<p>What an app says of its own actions is what your agents read and act on. Agree only to what you would tell them yourself.</p>
<p class="muted">Dismissed changes are not asked about again, until the app changes once more: what you agreed to stays in use, and changed actions are not run.</p>
<div class="actions">
${decide("accept", html`<button class="primary">Use the changed actions</button>`)}
${decide("dismiss", html`<button>Dismiss</button>`)}
<a href="/connections">Decide later</a>
</div>
</section>`;
}

function nothingBody(name: string): Markup {
  return messageBody({
    heading: "Nothing to review",
    text: `${name} offers what you agreed to.`,
    next: html`<p><a href="/connections">Go to the connections</a></p>`,
  });
}

function part(id: string, heading: string, entries: readonly Markup[]): Markup {
  if (entries.length === 0) return html``;
  return html`<section class="card" aria-labelledby="${id}"><h2 id="${id}">${heading}</h2><ul class="changes">${entries}</ul></section>`;
}

function changedAction({ id, differences }: { id: string; differences: readonly Difference[] }): Markup {
  return html`<li><h3><code>${showHidden(id)}</code></h3>${differences.map(
    ({ path, was, is }) =>
      html`<p class="muted">${showHidden(path)}</p><dl class="versions"><dt>Agreed</dt><dd>${version(was)}</dd><dt>Now</dt><dd>${version(is)}</dd></dl>`,
  )}</li>`;
}

function newAction({ id, level, title, description, inputSchema }: StoredAction): Markup {
  return html`<li><h3><code>${showHidden(id)}</code> ${tag(level === "read" ? "ok" : "warn", level)}</h3>
<p class="text">${showHidden(description || title)}</p>
<details><summary>Arguments<span class="hidden"> of ${showHidden(id)}</span></summary><pre tabindex="0">${showHidden(JSON.stringify(inputSchema, null, 2))}</pre></details></li>`;
}

function version(json: string | undefined): Markup {
  if (json === undefined) return html`<span class="muted">nothing</span>`;
  // Texts in their quotes: "5" is not 5, and a space at the end is one.
  return html`<span class="text">${showHidden(JSON.stringify(JSON.parse(json), null, 2))}</span>`;
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
