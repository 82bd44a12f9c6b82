import { html } from "hono/html";
import { parseExactly } from "../../../shared/base/exact-number.ts";
import type { HeldApproval } from "../../approvals/approval-rows.ts";
import { shortenJson } from "../../executions/outcome.ts";
import { type Permission, readPermission } from "../../executions/permission.ts";
import type { ExecutionRow } from "../../store/schema.ts";
import type { NamedExecution } from "./named-execution.ts";
import type { Markup } from "./page.ts";
import { stopForm } from "./stop-form.ts";
import { dataView, describeDuration, exactTimeTag, executionTag } from "./values.ts";

/** Content of the page of one execution. */
interface ExecutionPage extends NamedExecution {
  readonly execution: NamedExecution["execution"] & ExecutionRow;
  readonly error: string | undefined;
  readonly csrfToken: string;
  /** Whether an owner may undo it, and has not. */
  readonly canUndo: boolean;
  /** The request that it was decided on; undefined when the owner was not asked. */
  readonly approval: HeldApproval | undefined;
}

/** One execution: what was asked by whom, what was decided, and what came of it. */
export function executionBody(o: ExecutionPage): Markup {
  const { execution } = o;
  return html`<h1>${o.title}</h1>
<p class="lead" id="state" data-live>${execution.object === undefined ? "" : html`<span class="object">${execution.object}</span>`}${o.app} · ${executionTag(execution)}</p>
<div id="stop" data-live>${execution.waits_until === null ? "" : stopForm(`/log/${execution.id}/stop`, { until: execution.waits_until, csrfToken: o.csrfToken })}</div>
<section class="card" aria-labelledby="facts">
<h2 id="facts">What was asked</h2>
${factList(o)}
<h2>Arguments</h2>
${jsonView(execution.arguments, "Arguments")}
</section>
${o.approval === undefined ? "" : decisionCard(o.approval)}
<section class="card" id="end" aria-labelledby="result" data-live>
<h2 id="result">Result</h2>
${o.error === undefined ? "" : html`<p class="notice bad">${o.error}</p>`}
${execution.output === null ? "" : jsonView(execution.output, "Result")}
${o.error === undefined && execution.output === null ? html`<p class="muted">There is none yet.</p>` : ""}
</section>
${o.canUndo ? html`<p><a class="secondary" href="/log/${execution.id}/undo">Undo this change</a></p>` : ""}
<p><a href="/log">Back to the log</a></p>`;
}

function factList({ execution, connection, device }: ExecutionPage): Markup {
  const { started_at, finished_at, api_key_id: key, flow_id: flow, connection_id } = execution;
  return html`<dl>
<dt>Tool</dt><dd><code>${execution.tool_name}</code></dd>
<dt>Connection</dt><dd>${connection === undefined ? "None, or no longer there" : html`<a href="/log?connection=${connection_id}">${connection}</a>`}</dd>
<dt>Asked by</dt><dd>${key === null ? device : html`<a href="/log?device=${encodeURIComponent(key)}">${device}</a>`}</dd>
${flow === null ? "" : html`<dt>Part of</dt><dd><a href="/flows/${flow}">a flow</a>, with <a href="/log?flow=${flow}">its other calls</a></dd>`}
<dt>Effect</dt><dd>${execution.side_effect_level}</dd>
${execution.status === "refused" ? "" : html`<dt>Allowed by</dt><dd>${describePermission(readPermission(execution.permission), device)}</dd>`}
<dt>Started</dt><dd>${exactTimeTag(started_at)}</dd>
<dt>Finished</dt><dd>${finished_at === null ? "Not yet" : html`${exactTimeTag(finished_at)}, after ${describeDuration(started_at, finished_at)}`}</dd>
<dt>Id</dt><dd><code>${execution.id}</code></dd>
</dl>`;
}

/** Who or what let it run. */
function describePermission(permission: Permission | undefined, device: string): Markup {
  switch (permission?.by) {
    case "person": {
      const { name, approval, editedBy } = permission;
      if (approval === undefined) return html`${name}, in the log`;
      const edit = editedBy === undefined ? "" : `, as edited by ${editedBy}`;
      return html`${name}, in the <a href="/inbox/${approval}">inbox</a>${edit}`;
    }
    case "device":
      return html`${device}, which says that its human approved`;
    case "flow":
      return html`The approval of <a href="/flows/${permission.flow}">its flow</a>`;
    case "rule":
      return html`The rule <code>${permission.text}</code>, <code>${permission.id}</code>`;
    case "level":
      return html`Nobody: this action needs no approval (${permission.level})`;
    default:
      return html`<span class="muted">Not known</span>`;
  }
}

function decisionCard({ id, status, decidedBy, decidedAt, editedBy, reason, requestedAt }: HeldApproval): Markup {
  return html`<section class="card" aria-labelledby="decision">
<h2 id="decision">Decision</h2>
<dl>
<dt>Decision</dt><dd>${status === "declined" ? "Declined" : "Approved"}</dd>
<dt>By</dt><dd>${decidedBy ?? "Not known"}</dd>
${editedBy === null ? "" : html`<dt>Edited by</dt><dd>${editedBy}</dd>`}
<dt>Asked</dt><dd>${exactTimeTag(requestedAt)}</dd>
<dt>Decided</dt><dd>${decidedAt === null ? "Not known" : exactTimeTag(decidedAt)}</dd>
${reason === null ? "" : html`<dt>Reason</dt><dd>${reason}</dd>`}
</dl>
<p><a href="/inbox/${id}">See the request</a></p>
</section>`;
}

/** Longer values are folded away, in characters of JSON. */
const MAX_OPEN = 4000;
/** Longest JSON shown, in characters. */
const MAX_SHOWN = 20_000;

/** Stored JSON as a person reads it, shortened where a page would get too long; behind it, folded, as it is. */
function jsonView(json: string, name: string): Markup {
  const value: unknown = parseExactly(json);
  const view = dataView(shortenJson(value, json));
  const text = JSON.stringify(value, null, 2);
  const rest = text.length - MAX_SHOWN;
  const shown = rest > 0 ? `${text.slice(0, MAX_SHOWN)}\n… ${rest} more characters` : text;
  return html`${json.length > MAX_OPEN ? html`<details class="more"><summary>${name}: ${json.length.toLocaleString("en-US")} characters</summary>${view}</details>` : view}
<details class="more"><summary>${name} as JSON</summary><pre class="json"><code>${shown}</code></pre></details>`;
}
