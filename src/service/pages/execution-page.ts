import { html } from "hono/html";
import { exactTime } from "../exact-time.ts";
import type { ExecutionRow } from "../store/schema.ts";
import type { NamedExecution } from "./log-row.ts";
import type { Markup } from "./page.ts";
import { executionTag } from "./state-tag.ts";

/** Longest arguments and output shown, in characters. */
const MAX_SHOWN = 20_000;

/** One execution with its arguments and what came of it. */
export function executionBody(
  o: NamedExecution & { readonly execution: ExecutionRow; readonly error: string | undefined },
): Markup {
  const { execution } = o;
  const { started_at, finished_at } = execution;
  return html`<h1>${o.title}</h1>
<p class="lead">${o.app} · ${executionTag(execution.status)}</p>
<section class="card" aria-labelledby="facts">
<h2 id="facts">What was asked</h2>
<dl>
<dt>Tool</dt><dd><code>${execution.tool_name}</code></dd>
<dt>Connection</dt><dd>${o.connection ?? "None, or no longer there"}</dd>
<dt>Asked by</dt><dd>${o.device}</dd>
<dt>Effect</dt><dd>${execution.side_effect_level}</dd>
<dt>Started</dt><dd>${exactTime(started_at)}</dd>
<dt>Finished</dt><dd>${finished_at === null ? "Not yet" : `${exactTime(finished_at)}, after ${describeDuration(started_at, finished_at)}`}</dd>
<dt>Id</dt><dd><code>${execution.id}</code></dd>
</dl>
<h2>Arguments</h2>
<pre tabindex="0" aria-label="Arguments"><code>${showJson(execution.arguments)}</code></pre>
</section>
<section class="card" aria-labelledby="result">
<h2 id="result">Result</h2>
${o.error === undefined ? "" : html`<p class="notice bad">${o.error}</p>`}
${execution.output === null ? "" : html`<pre tabindex="0" aria-label="Result"><code>${showJson(execution.output)}</code></pre>`}
${o.error === undefined && execution.output === null ? html`<p class="muted">There is none yet.</p>` : ""}
</section>
<p><a href="/log">Back to the log</a></p>`;
}

/** JSON on several lines, cut where a page would get too long. */
function showJson(json: string): string {
  const text = JSON.stringify(JSON.parse(json), null, 2);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}\n… ${text.length - MAX_SHOWN} more characters` : text;
}

function describeDuration(from: string, to: string): string {
  const ms = Date.parse(to) - Date.parse(from);
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}
