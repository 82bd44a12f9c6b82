import { Readable } from "node:stream";
import type { Hono } from "hono";
import { html } from "hono/html";
import { cleanText, exactTime } from "../../../base/text.ts";
import type { ApprovalStatus } from "../../../wire/approval.ts";
import { EXACT, toPlainText } from "../../../wire/plain-text.ts";
import type { ApprovalContent, HeldApproval } from "../../approvals/approval-rows.ts";
import { ServiceError } from "../../service-error.ts";
import { ownerPages, readDecision } from "../owner-browser.ts";
import { findNotice, type RouteEnv } from "../request.ts";
import { describeApp } from "../routes/oauth.ts";
import type { ServiceParts } from "../service-parts.ts";
import { csrfField, type Markup, noticeLine } from "./page.ts";
import { exactView, tag, timeTag } from "./values.ts";

const NOTICES: Readonly<Record<string, string>> = {
  approved: "Approved. The call runs now.",
  declined: "Declined. Nothing was run.",
  changed: "This call was decided, withdrawn or has expired before you pressed the button. Nothing more was done.",
};

/** Seconds after which the list looks for new requests, and an approved call for its end. */
const REFRESH = { list: 10, running: 2 } as const;
const MAX_REASON = 500;
/** Decided calls on the list. */
const MAX_DECIDED = 20;

/** The inbox: calls that wait for the owner, and the page of each with its decision. */
export function addInboxPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { addPage, addForm } = ownerPages(app, parts, "approver");
  const { approvals } = parts;
  addPage("/inbox", async (_c, { accountId }) => {
    const all = await approvals.list(accountId, {});
    const names = await nameCallers(parts, accountId);
    const waiting = await approvals.list(accountId, { status: "pending" });
    const decided = all.filter(({ status }) => status !== "pending").slice(0, MAX_DECIDED);
    const body = inboxBody({ waiting, decided, names, now: parts.now() });
    return { title: "Inbox", body, section: "inbox", refreshSeconds: REFRESH.list };
  });
  addPage("/inbox/:id", async (c, { accountId, csrfToken }) => {
    const approval = await requireApproval(parts, accountId, c.req.param("id"));
    const caller = findCaller(await nameCallers(parts, accountId), approval);
    const notice = findNotice(NOTICES, c.req.query("notice"));
    const body = approvalBody({ approval, caller, csrfToken, now: parts.now(), notice });
    const isMoving = approval.status === "approved" || approval.status === "running";
    const title = approval.content?.title ?? approval.toolName;
    return { title, body, section: "inbox", ...(isMoving && { refreshSeconds: REFRESH.running }) };
  });
  addPage("/inbox/:id/files/:index", async (c, { accountId }) => {
    const { content } = await requireApproval(parts, accountId, c.req.param("id"));
    const file = content?.files[Number(c.req.param("index"))];
    const stored = file && (await parts.blobs.get(accountId, file.s3key));
    if (stored === undefined) throw new ServiceError(404, "not_found", "This file is not kept any more.");
    return new Response(Readable.toWeb(parts.blobs.open(stored)) as ReadableStream, { headers: DOWNLOAD_HEADERS });
  });
  addForm("/inbox/:id", async (c, { owner, form }) => {
    const id = c.req.param("id");
    const decision = readDecision(form);
    const isDecided = await approvals.decide(owner.accountId, id, {
      isApproved: decision === "approve",
      fingerprint: form.get("fingerprint") ?? "",
      by: owner.person.name,
      reason: cleanText(form.get("reason") ?? "", MAX_REASON) ?? undefined,
    });
    const notice = isDecided ? `${decision}d` : "changed";
    return `/inbox/${encodeURIComponent(id)}?notice=${notice}`;
  });
}

/** Bytes that a stranger chose: saved, never shown by the browser itself. */
const DOWNLOAD_HEADERS = {
  "content-type": "application/octet-stream",
  "content-disposition": "attachment",
  "content-security-policy": "default-src 'none'; sandbox",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
};

async function requireApproval({ approvals }: ServiceParts, accountId: string, id: string): Promise<HeldApproval> {
  const found = await approvals.find(accountId, id);
  if (found !== undefined) return found;
  throw new ServiceError(404, "approval_not_found", "There is no such request, or it was removed with the old log.");
}

/** Names of keys and OAuth clients, by the id that an approval has. */
async function nameCallers({ keys, oauth }: ServiceParts, accountId: string): Promise<ReadonlyMap<string, string>> {
  const devices = (await keys.list(accountId)).map(({ id, label }) => [id, label] as const);
  const apps = (await oauth.listApps(accountId)).map(({ clientId, name, redirectUri }) => {
    const { clientName, destination } = describeApp(name, redirectUri);
    return [`oauth_${clientId}`, clientName ?? destination] as const;
  });
  return new Map([...devices, ...apps]);
}

function findCaller(names: ReadonlyMap<string, string>, { apiKeyId }: HeldApproval): string {
  return names.get(apiKeyId) ?? "a device or app without access";
}

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

interface InboxPage {
  readonly waiting: readonly HeldApproval[];
  readonly decided: readonly HeldApproval[];
  readonly names: ReadonlyMap<string, string>;
  readonly now: number;
}

function inboxBody(o: InboxPage): Markup {
  return html`<h1>Inbox</h1>
<p class="lead">Calls of agents that run only after you approve them.</p>
<section class="card" aria-labelledby="waiting" aria-live="polite">
<h2 id="waiting">${o.waiting.length === 0 ? "Nothing waits for you" : `Waiting for you: ${o.waiting.length}`}</h2>
${
  o.waiting.length === 0
    ? html`<p class="muted">This page looks for new requests by itself.</p>`
    : html`<ul class="rows">${o.waiting.map((approval) => approvalRow(approval, o))}</ul>`
}
</section>
${
  o.decided.length === 0
    ? ""
    : html`<section class="card" aria-labelledby="decided"><h2 id="decided">Decided</h2>
<ul class="rows">${o.decided.map((approval) => approvalRow(approval, o))}</ul></section>`
}`;
}

function approvalRow(approval: HeldApproval, { names, now }: InboxPage): Markup {
  const { id, status, level, content, toolName, requestedAt } = approval;
  const place = content === undefined ? toolName : `${content.app}, ${toPlainText(content.account)}`;
  return html`<li><div><strong><a href="/inbox/${id}">${content?.title ?? toolName}</a></strong><span class="muted">${place} · ${level} · ${findCaller(names, approval)} · ${timeTag(requestedAt, now)}</span></div>
${status === "pending" ? html`<a class="button primary" href="/inbox/${id}" aria-label="Review ${content?.title ?? toolName}">Review</a>` : tag(...STATES[status])}</li>`;
}

interface ApprovalPage {
  readonly approval: HeldApproval;
  readonly caller: string;
  readonly csrfToken: string;
  readonly now: number;
  readonly notice: string | undefined;
}

const EFFECTS: Readonly<Record<HeldApproval["level"], string>> = {
  read: "reads",
  write: "writes: can create or change something",
  delete: "deletes something",
  admin: "administers: can change how the app is set up",
};

/** One call, whole, with the two buttons while it waits. */
function approvalBody(o: ApprovalPage): Markup {
  const { approval, now } = o;
  const { content, status, toolName, level } = approval;
  if (content === undefined) {
    return html`<h1>${toolName}</h1><p class="notice bad">The call cannot be shown: the key that it was encrypted with is lost. It is not run.</p>`;
  }
  const count = Object.keys(content.arguments).length;
  return html`<h1>${toPlainText(content.title)}</h1>
<p class="lead">${tag(...STATES[status])}</p>
${noticeLine(o.notice)}
${status === "void" || status === "declined" ? html`<p class="notice${status === "void" ? " bad" : ""}">${approval.reason ?? "No reason was given."}</p>` : ""}
<section class="card" aria-labelledby="call">
<h2 id="call">The call</h2>
<dl>
<dt>Tool</dt><dd><code>${toolName}</code></dd>
<dt>App</dt><dd>${content.app}</dd>
<dt>Account</dt><dd>${toPlainText(content.account)} <code>${approval.connectionId}</code></dd>
<dt>Effect</dt><dd>${EFFECTS[level]}</dd>
<dt>Asked by</dt><dd>${o.caller}</dd>
<dt>Asked</dt><dd>${timeTag(approval.requestedAt, now)}</dd>
${status === "pending" ? html`<dt>Expires</dt><dd>${timeTag(approval.expiresAt, now)}</dd>` : ""}
${approval.decidedAt === null ? "" : html`<dt>Decided</dt><dd>${exactTime(approval.decidedAt)}${approval.decidedBy === null ? "" : `, by ${approval.decidedBy}`}</dd>`}
${content.policyReason === undefined ? "" : html`<dt>Why asked</dt><dd>${toPlainText(content.policyReason)}</dd>`}
</dl>
<h2>${count === 0 ? "No arguments" : `Arguments: ${count}`}</h2>
${argumentList(content)}
${fileList(approval.id, content)}
${content.askBefore.length === 0 ? "" : html`<h2>Check</h2><ul>${content.askBefore.map((line) => html`<li>${toPlainText(line)}</li>`)}</ul>`}
<details class="more"><summary>What this tool does</summary><p class="text">${toPlainText(content.description, { keepLines: true })}</p></details>
${status === "pending" ? decisionForm(o) : ""}
</section>
${approval.executionId === null ? "" : html`<p><a href="/log/${approval.executionId}">See the result in the log</a></p>`}
<p><a href="/inbox">Back to the inbox</a></p>`;
}

/** Every argument under its own name. A text without quotes is exactly what is sent; anything else is JSON. */
function argumentList({ arguments: args }: ApprovalContent): Markup {
  const entries = Object.entries(args);
  if (entries.length === 0) return html``;
  return html`<dl class="arguments">${entries.map(([name, value]) => html`<dt><code>${toPlainText(name, EXACT)}</code></dt><dd>${exactView(drawValue(value))}</dd>`)}</dl>`;
}

/** In a short text, spaces at its ends would be overlooked. */
const SHORT = 80;

function drawValue(value: unknown): string {
  const isPlain =
    typeof value === "string" &&
    (value.trim() === value || value.length > SHORT) &&
    !/^(["[{\d-]|true$|false$|null$|$)/.test(value);
  return isPlain ? value : (JSON.stringify(value, null, 2) ?? "null");
}

function fileList(id: string, { files }: ApprovalContent): Markup {
  if (files.length === 0) return html``;
  return html`<h2>Files: ${files.length}</h2>
<ul class="rows">${files.map(
    ({ field, name, mimetype, size, sha256 }, index) =>
      html`<li><div><strong>${toPlainText(name)}</strong><span class="muted">${field} · ${toPlainText(mimetype)} · ${size.toLocaleString("en-US")} bytes · SHA-256 <code>${sha256}</code></span></div><a class="button quiet" href="/inbox/${id}/files/${index}" download="${toPlainText(name)}" aria-label="Download ${toPlainText(name)}">Download</a></li>`,
  )}</ul>`;
}

function decisionForm({ approval, csrfToken }: ApprovalPage): Markup {
  const { id, fingerprint, toolName, level, content } = approval;
  const hidden = html`${csrfField(csrfToken)}<input type="hidden" name="fingerprint" value="${fingerprint}">`;
  // Two forms, so that Enter in the field for the reason can never approve.
  return html`<p class="notice warn">Approve <code>${toolName}</code>, which ${EFFECTS[level].split(":")[0]}, on <strong>${toPlainText(content?.account ?? "")}</strong>? It runs once, exactly as shown.</p>
<form method="post" action="/inbox/${id}">${hidden}
<div class="actions"><button class="primary" name="decision" value="approve">Approve</button></div></form>
<form method="post" action="/inbox/${id}">${hidden}
<div class="field"><label for="reason">Reason for the agent <span class="optional">(optional)</span></label><input id="reason" name="reason" maxlength="${MAX_REASON}" autocomplete="off"></div>
<button class="secondary" name="decision" value="decline">Decline</button></form>`;
}
