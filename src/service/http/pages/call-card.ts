import { html } from "hono/html";
import { isRecord } from "../../../shared/base/json.ts";
import { shortenText } from "../../../shared/base/text.ts";
import { EXACT, toPlainText } from "../../../shared/card/plain-text.ts";
import { splitTold } from "../../../shared/card/preview-facts.ts";
import type { ApprovalStatus } from "../../../shared/wire/approval.ts";
import type { ApprovalContent, HeldApproval } from "../../approvals/approval-rows.ts";
import { STOPPED } from "../../executions/delays.ts";
import { isDoubtful } from "../../executions/summarise-outcome.ts";
import type { ServiceError } from "../../service-error.ts";
import { exactValue, writeExactly } from "./exact-value.ts";
import { fileList, type SeenFile } from "./file-preview.ts";
import { csrfField, type Markup, noticeLine } from "./page.ts";
import { previewPart } from "./preview-part.ts";
import { stopForm } from "./stop-form.ts";
import { exactTimeTag, tag, timeTag } from "./values.ts";

/** Longest reason for the agent, in characters. */
export const MAX_REASON = 500;

const STATES: Readonly<Record<ApprovalStatus, readonly [Parameters<typeof tag>[0], string]>> = {
  pending: ["warn", "Waits for you"],
  approved: ["plain", "About to run"],
  running: ["plain", "Running"],
  done: ["ok", "Approved and run"],
  declined: ["plain", "Declined"],
  cancelled: ["plain", "Withdrawn by the agent"],
  expired: ["plain", "Expired"],
  void: ["bad", "Approved, not run"],
};

/** Status of a held call; of one that ran, how it ended. */
export function approvalTag({ status, failure }: HeldApproval): Markup {
  if (status !== "done" || failure === undefined) return tag(...STATES[status]);
  if (failure.code === STOPPED) return tag("plain", "Approved, then stopped");
  return isDoubtful(failure) ? tag("bad", "Approved, outcome unknown") : tag("bad", "Approved, failed");
}

const EFFECTS: Readonly<Record<HeldApproval["level"], string>> = {
  read: "reads",
  write: "writes: can create or change something",
  delete: "deletes something",
  admin: "administers: can change how the app is set up",
};

/** A held call with what a page shows of it. */
export interface ShownCall {
  readonly approval: HeldApproval;
  readonly files: readonly SeenFile[];
  /** Name of the key or app that asked. */
  readonly caller: string;
  readonly now: number;
}

/** Content of the page of one held call. */
export interface CallCard extends ShownCall {
  readonly csrfToken: string;
  readonly notice: string | undefined;
  /** True when this person may allow the tool on this account from now on. */
  readonly mayAllow: boolean;
  /** How many other calls of the tool on the account wait, where they are offered. */
  readonly others: number;
  /** True where the arguments stand in a form, to be edited. */
  readonly isEditing: boolean;
  /** Arguments as somebody typed them, and what is wrong with them. */
  readonly draft: { readonly text: string; readonly problem: string } | undefined;
  /** Whether an approved call can still be stopped, and until when, in ISO 8601, where that is known. */
  readonly stop: { readonly until: string | undefined } | undefined;
  /** The next request that waits; undefined when none does. */
  readonly nextHref: string | undefined;
}

/** One call, whole, with the two buttons while it waits. */
export function callCard(o: CallCard): Markup {
  const { approval } = o;
  const { content, status, toolName } = approval;
  if (content === undefined) {
    return html`<h1>${toolName}</h1><p class="notice bad">The call cannot be shown: the key that it was encrypted with is lost. It is not run.</p>`;
  }
  const isRefused = status === "void" || status === "declined";
  return html`${headline(content)}
<div class="lead" id="state" role="status" data-live>${o.stop === undefined ? approvalTag(approval) : tag(...STATES.approved)}${approval.executionId === null ? "" : html` · <a href="/log/${approval.executionId}">See it in the log</a>`}${status === "pending" ? html` · <a href="#decide">Go to the decision</a>` : ""}</div>
${noticeLine(o.notice)}
<div id="stop" data-live>${o.stop === undefined ? "" : stopForm(`/inbox/${approval.id}`, { ...o.stop, csrfToken: o.csrfToken })}</div>
${othersLine(o)}
${status === "pending" && approval.reason !== null ? html`<p class="notice warn">${approval.reason}${approval.row.behind === null ? "" : html` <a href="/inbox/${approval.row.behind}">See that call</a>`}</p>` : ""}
${status === "done" && approval.failure !== undefined ? html`<p class="notice bad">${describeFailure(approval.failure)}</p>` : ""}
${isRefused ? html`<p class="notice${status === "void" ? " bad" : ""}">${approval.reason === null ? "No reason was given." : `Reason: ${approval.reason}`}</p>` : ""}
${status === "void" && content.files.length === 0 ? lookAgainForm(o) : ""}
<section class="card" aria-labelledby="call">
${content.preview === undefined ? html`<h2 id="call">The call</h2>` : whoLine(o)}
${wholeCall(o, content)}
</section>
${status === "pending" ? decisionForms(o, content) : ""}
<p class="pages"><a href="/inbox">Back to the inbox</a>${o.nextHref === undefined ? "" : html`<a href="${o.nextHref}">Next request</a>`}</p>`;
}

/** What the call would do, in a sentence; the name of its action where nobody looked. */
function headline({ preview, title }: ApprovalContent): Markup {
  if (preview === undefined) return html`<h1>${toPlainText(title, EXACT)}</h1>`;
  return html`<h1 class="sentence" id="call">${toPlainText(preview.summary, EXACT)}</h1>`;
}

/** Who asks on which account, until when, and that it deletes. */
function whoLine({ approval, caller, now }: ShownCall): Markup {
  const { content, level, requestedAt, expiresAt, status } = approval;
  const isDangerous = level === "delete" || level === "admin";
  const does = content?.does === undefined ? "" : `: it ${toPlainText(content.does)}`;
  return html`<p class="muted who">${caller} asked ${timeTag(requestedAt, now)}, on ${toPlainText(content?.account ?? "", EXACT)}${status === "pending" ? html`; expires ${timeTag(expiresAt, now)}` : ""}.${isDangerous ? html` <strong class="bad">${level === "delete" ? "Deletes something" : "Changes how the app is set up"}${does}.</strong>` : ""}</p>`;
}

/** Its files went with it: a call with files has to be asked by the agent. */
function lookAgainForm({ approval, csrfToken }: CallCard): Markup {
  return html`<form method="post" action="/inbox/${approval.id}">${csrfField(csrfToken)}
<p><button name="decision" value="look">Look at it as it is now</button> <span class="muted">It waits for you again then. Nothing runs by that.</span></p></form>`;
}

/** Everything that a call would do, as it runs: first what a look has found, with the call as it is sent folded behind it. */
export function wholeCall(o: ShownCall, content: ApprovalContent): Markup {
  const { untold, told } = splitTold(content.arguments, content.preview, (value) => isListed(value, o.files));
  const asked =
    content.asked === undefined
      ? ""
      : html`<details class="more"><summary>As it was asked, before the edit</summary>${argumentList(content.asked)}</details>`;
  const rest = html`${fileList(o.approval.id, o.files)}
${content.askBefore.length === 0 || content.preview !== undefined ? "" : html`<h2>Check</h2><ul>${content.askBefore.map((line) => html`<li>${toPlainText(line)}</li>`)}</ul>`}
${asked}`;
  const about = html`<details class="more"><summary>What this tool does</summary><p class="text">${toPlainText(content.description, { keepLines: true })}</p></details>`;
  const count = Object.keys(content.arguments).length;
  const title = html`<h2>${count === 0 ? "No arguments" : `Arguments: ${count}`}</h2>`;
  if (content.preview === undefined)
    return html`${previewPart(content)}${factList(o, content)}${title}${argumentList(untold)}${rest}${about}`;
  return html`${previewPart(content)}
${Object.keys(untold).length === 0 ? "" : html`<h2>Further arguments</h2>${argumentList(untold)}`}
${rest}
<details class="more"><summary>Tool, account and arguments as they are sent</summary>${factList(o, content)}${argumentList(told)}</details>
${about}`;
}

/** True for a file, or a list of files, of which the list of files shows everything. */
function isListed(value: unknown, files: readonly SeenFile[]): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every((item) => isListed(item, files));
  if (!isRecord(value)) return false;
  const { s3key, name, mimetype, ...others } = value;
  const isIt = (file: SeenFile) => file.s3key === s3key && file.name === name && file.mimetype === mimetype;
  return Object.keys(others).length === 0 && files.some(isIt);
}

/** Longest text of a failure, in characters; the log has all of it. */
const MAX_FAILURE = 500;

function describeFailure(failure: ServiceError): string {
  const message = toPlainText(shortenText(failure.message, MAX_FAILURE));
  return isDoubtful(failure) ? `${message} It is not run again: look in the app whether it is done.` : message;
}

function factList({ approval, caller, now }: ShownCall, content: ApprovalContent): Markup {
  const { toolName, connectionId, level, status, requestedAt, expiresAt, decidedAt, decidedBy, editedBy } = approval;
  const does = content.does === undefined ? "" : `: ${toPlainText(content.does)}`;
  const effect = `${EFFECTS[level]}${does}`;
  const isDangerous = level === "delete" || level === "admin";
  return html`<dl>
<dt>Tool</dt><dd><code>${toolName}</code></dd>
${content.preview === undefined ? "" : html`<dt>Action</dt><dd>${toPlainText(content.title, EXACT)}</dd>`}
<dt>App</dt><dd>${toPlainText(content.app, EXACT)}</dd>
<dt>Account</dt><dd>${toPlainText(content.account, EXACT)} <code>${connectionId}</code></dd>
<dt>Effect</dt><dd>${isDangerous ? html`<strong class="bad">${effect}</strong>` : effect}</dd>
<dt>Asked by</dt><dd>${caller}, ${timeTag(requestedAt, now)}</dd>
${status === "pending" ? html`<dt>Expires</dt><dd>${timeTag(expiresAt, now)}</dd>` : ""}
${decidedAt === null ? "" : html`<dt>Decided</dt><dd>${exactTimeTag(decidedAt)}${decidedBy === null ? "" : `, by ${decidedBy}`}</dd>`}
${editedBy === null ? "" : html`<dt>Edited by</dt><dd>${editedBy}</dd>`}
${content.policyReason === undefined ? "" : html`<dt>Why asked</dt><dd>${toPlainText(content.policyReason)}</dd>`}
</dl>`;
}

/** Every argument under its own name, behind a line that no value can cross. */
function argumentList(args: ApprovalContent["arguments"]): Markup {
  const entries = Object.entries(args);
  if (entries.length === 0) return html``;
  return html`<dl class="arguments">${entries.map(([name, value]) => html`<dt><code>${writeExactly(name)}</code>${sizeOf(value)}</dt><dd class="value">${exactValue(value)}</dd>`)}</dl>`;
}

/** Texts from this length on are counted, in characters. */
const COUNTED = 200;

function sizeOf(value: unknown): Markup {
  if (typeof value !== "string" || value.length < COUNTED) return html``;
  return html` <span class="muted">${value.length.toLocaleString("en-US")} characters</span>`;
}

function othersLine({ others, approval: { toolName, connectionId } }: CallCard): Markup {
  if (others === 0) return html``;
  const address = `/inbox/together?${new URLSearchParams({ tool: toolName, account: connectionId })}`;
  return html`<p class="notice">${others} more of this tool on this account ${others === 1 ? "waits" : "wait"} already. <a href="${address}">See ${others === 1 ? "it" : "them"}, and decide at once</a></p>`;
}

/** Longest arguments that can be edited on a page, in characters of JSON: a form has an end. */
const MAX_EDITED = 100_000;

function editForm({ approval, draft, isEditing }: CallCard, content: ApprovalContent, hidden: Markup): Markup {
  const written = JSON.stringify(content.arguments, null, 2);
  const text = draft?.text ?? toPlainText(written, { ...EXACT, keepLines: true });
  if (text.length > MAX_EDITED) return html``;
  if (!isEditing) return html`<p><a href="/inbox/${approval.id}?edit=1#arguments">Edit, and approve</a></p>`;
  const problem =
    draft === undefined
      ? ""
      : html`<p class="problem" id="arguments-problem" role="alert">Nothing was changed or approved. ${toPlainText(draft.problem)}</p>`;
  const described = draft === undefined ? "arguments-help" : "arguments-help arguments-problem";
  return html`<form method="post" action="/inbox/${approval.id}">${hidden}
<div class="field"><label for="arguments">Arguments</label><p class="help" id="arguments-help">As JSON. They pass every check that a new call passes, and run as you leave them; if a check changes them, you see them again first. Files stay as they are.</p>${problem}
<textarea id="arguments" name="arguments" rows="10" spellcheck="false" autocomplete="off" autocapitalize="off" aria-describedby="${described}"${draft === undefined ? "" : html` aria-invalid="true"`}>
${text}</textarea></div>
<button name="decision" value="edit">Approve as edited</button></form>`;
}

function decisionForms(o: CallCard, content: ApprovalContent): Markup {
  const { approval, csrfToken, mayAllow } = o;
  const { account } = content;
  const { id, fingerprint, toolName, level } = approval;
  const hidden = html`${csrfField(csrfToken)}<input type="hidden" name="fingerprint" value="${fingerprint}">`;
  const always = html`<details><summary>Approve, and do not ask again</summary>
<p class="muted">From now on every device and app may call <code>${toolName}</code> on <strong>${toPlainText(account, EXACT)}</strong> unasked, with any arguments. This makes a <a href="/rules">rule</a>, which you can remove.</p>
<form method="post" action="/inbox/${id}">${hidden}<button name="decision" value="always">Approve, and always allow</button></form></details>`;
  // Forms of their own, so that Enter in the field for the reason can never approve.
  return html`<section class="card" id="decide" aria-labelledby="decision">
<h2 id="decision">Your decision</h2>
<p>Approve <code>${toolName}</code>, which ${EFFECTS[level].split(":")[0]}, on <strong>${toPlainText(account, EXACT)}</strong>? It runs once, exactly as shown.</p>
${mayAllow ? always : ""}
${editForm(o, content, hidden)}
<form method="post" action="/inbox/${id}" id="decline">${hidden}
<div class="field"><label for="reason">Reason for the agent <span class="optional">(optional)</span></label><input id="reason" name="reason" maxlength="${MAX_REASON}" autocomplete="off"></div></form>
</section>
<div class="reach"><form method="post" action="/inbox/${id}">${hidden}<button class="primary" name="decision" value="approve">Approve</button></form>
<button class="secondary" form="decline" name="decision" value="decline">Decline</button></div>`;
}
