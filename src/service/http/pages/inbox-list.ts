import { html } from "hono/html";
import { describeStarter } from "../../../shared/card/flow-starter.ts";
import { EXACT, toPlainText } from "../../../shared/card/plain-text.ts";
import type { HeldApproval } from "../../approvals/approval-rows.ts";
import type { ListPlace, WaitingGroup } from "../../approvals/list-approvals.ts";
import { summariseCall } from "../../approvals/summarise-call.ts";
import { approvalTag } from "./call-card.ts";
import { declineChosen, ENTER_DOES_NOTHING } from "./chosen-calls.ts";
import { waitLines } from "./flow-list.ts";
import { csrfField, type Markup, noticeLine } from "./page.ts";
import { toAddress } from "./places.ts";
import { timeTag } from "./values.ts";
import type { WaitingItem, WaitingPart } from "./waiting.ts";

/** A list of calls. */
export interface CallList {
  readonly names: ReadonlyMap<string, string>;
  readonly now: number;
}

/** Content of the inbox. */
export interface InboxPage extends CallList {
  readonly waiting: WaitingPart;
  /** Calls that can be seen and decided together. */
  readonly groups: readonly (WaitingGroup & { readonly title: string })[];
  readonly decided: readonly HeldApproval[];
  readonly isFirst: boolean;
  /** Ids of the calls that this browser has opened. */
  readonly opened: ReadonlySet<string>;
  readonly csrfToken: string;
  readonly notice: string | undefined;
}

/** Everything that waits, and the calls that were decided last. */
export function inboxBody(o: InboxPage): Markup {
  const { items, total, next } = o.waiting;
  return html`<h1>Inbox</h1>
<p class="lead">Calls and flows of agents that go on only after you approve them.</p>
<div id="notice" data-live>${noticeLine(o.notice)}</div>
<section class="card" aria-labelledby="waiting">
<div class="title"><h2 id="waiting" data-live>${total === 0 ? "Nothing waits for you" : `Waiting for you: ${total}`}</h2><p id="news" role="status" class="muted"></p></div>
<div id="groups" data-live>${o.groups.map((group) => groupLine(group, o))}</div>
<form method="post" action="/inbox/approve">${csrfField(o.csrfToken)}${ENTER_DOES_NOTHING}
<ul class="rows requests" id="requests" data-live>${items.map((item) => waitingRow(item, o))}</ul>
<div id="several" data-live>${severalButton(o)}</div>
</form>
</section>
${
  o.isFirst && next === undefined
    ? ""
    : html`<nav class="pages" aria-label="Pages of the inbox">${o.isFirst ? "" : html`<a href="/inbox">Newest</a>`}${next === undefined ? "" : html`<a href="${toAddress("/inbox", next)}">Older</a>`}</nav>`
}
<noscript><p><a href="/inbox">Look for new requests</a></p></noscript>
${
  o.decided.length === 0
    ? ""
    : html`<section class="card" aria-labelledby="decided"><div class="title"><h2 id="decided">Decided</h2><a href="/inbox/decided">All decided calls</a></div>
<div id="decided-now" data-live><ul class="rows">${o.decided.map((approval) => decidedRow(approval, o))}</ul></div></section>`
}`;
}

/** Several can be approved once this browser has opened each. */
function severalButton({ waiting: { items }, opened }: InboxPage): Markup {
  const count = items.filter(({ id }) => opened.has(id)).length;
  if (count > 0) {
    return html`<div class="actions"><button name="decision" value="approve">Approve the chosen calls</button></div>${declineChosen()}`;
  }
  return items.some(({ call }) => call !== undefined)
    ? html`<p class="help later">A call that you have opened can be chosen here, to approve several at once.</p>`
    : html`<p class="muted">${items.length === 0 ? "This page shows new requests by itself." : ""}</p>`;
}

function groupLine({ apiKeyId, toolName, title, count }: InboxPage["groups"][number], { names }: InboxPage): Markup {
  const address = `/inbox/together?${new URLSearchParams({ caller: apiKeyId, tool: toolName })}`;
  return html`<p><a href="${address}">See all ${count} of “${toPlainText(title, EXACT)}”</a> <span class="muted">that ${findCaller(names, { apiKeyId })} asked for, and decide about them at once</span></p>`;
}

function waitingRow(item: WaitingItem, o: InboxPage): Markup {
  const { id, call, flow } = item;
  const title = call === undefined ? (flow.name ?? flow.id) : titleOf(call);
  const facts =
    call === undefined ? html`A flow, ${describeStarter(flow)} · ${timeTag(item.time, o.now)}` : factsOf(call, o);
  const isOpened = call !== undefined && o.opened.has(id);
  const box = html`<label class="pick"><input type="checkbox" name="call" value="${id} ${call?.fingerprint}"><span class="hidden">Choose ${title}</span></label>`;
  const button = isOpened ? "button quiet" : "button quiet primary";
  return html`<li id="${id}">${isOpened ? box : ""}<div><strong><a href="${hrefOf(item)}">${title}</a></strong>${flow === undefined ? "" : waitLines(flow)}${call === undefined ? "" : aboutLine(call)}<span class="muted">${facts}</span></div>
<a class="${button}" href="${hrefOf(item)}"${summariseCall(call?.content) === undefined ? "" : html` aria-describedby="about-${id}"`}>Review<span class="hidden"> ${title}</span></a></li>`;
}

/** What a call is about, to tell requests apart; empty where nothing names it. */
function aboutLine({ id, content }: HeldApproval): Markup {
  const about = summariseCall(content);
  return about === undefined ? html`` : html`<span class="digest" id="about-${id}">${about}</span>`;
}

function titleOf({ content, toolName }: HeldApproval): string {
  return toPlainText(content?.title ?? toolName, EXACT);
}

function factsOf(approval: HeldApproval, { names, now }: CallList): Markup {
  const { content, toolName, level, requestedAt } = approval;
  const place = content === undefined ? toolName : `${toPlainText(content.app)}, ${toPlainText(content.account)}`;
  return html`${place} · ${level} · ${findCaller(names, approval)} · ${timeTag(requestedAt, now)}`;
}

function decidedRow(approval: HeldApproval, list: CallList): Markup {
  return html`<li><div><strong><a href="/inbox/${approval.id}">${titleOf(approval)}</a></strong>${aboutLine(approval)}<span class="muted">${factsOf(approval, list)}</span></div>
${approvalTag(approval)}</li>`;
}

/** Decided calls, newest first. */
export function decidedBody(
  calls: readonly HeldApproval[],
  list: CallList & { readonly next: ListPlace | undefined },
): Markup {
  return html`<h1>Decided calls</h1>
<p class="lead">Newest first. Those that you approved or declined stand in the <a href="/log">log</a> too.</p>
<section class="card" aria-label="Decided calls">
${calls.length === 0 ? html`<p class="muted">There are none.</p>` : html`<ul class="rows">${calls.map((call) => decidedRow(call, list))}</ul>`}
</section>
<nav class="pages" aria-label="Pages"><a href="/inbox">Inbox</a>${list.next === undefined ? "" : html`<a href="${toAddress("/inbox/decided", list.next)}">Older</a>`}</nav>`;
}

/** Name of the key or app that asked. */
export function findCaller(names: ReadonlyMap<string, string>, { apiKeyId }: Pick<HeldApproval, "apiKeyId">): string {
  return names.get(apiKeyId) ?? "a device or app without access";
}

/** Page on which one is decided. */
export function hrefOf({ id, flow }: WaitingItem): string {
  return `/${flow === undefined ? "inbox" : "flows"}/${id}`;
}
