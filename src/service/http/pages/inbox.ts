import type { Hono } from "hono";
import type { HeldApproval } from "../../approvals/approval-rows.ts";
import { ownerPages, readDecision } from "../owner-browser.ts";
import type { RouteEnv } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import { addCallPages, seeFiles } from "./call-pages.ts";
import { decide, describeTogether, readReason, toNotice } from "./decide-together.ts";
import { decidedBody, findCaller, inboxBody } from "./inbox-list.ts";
import { nameCallersOf } from "./name-callers.ts";
import { readPlace } from "./places.ts";
import { readTogether, togetherBody } from "./together-page.ts";
import { listWaiting } from "./waiting.ts";

/** Seconds after which the list looks for new requests, and for the ends of calls that were approved together. */
const REFRESH = { list: 10, running: 2 } as const;
/** Requests on one page. */
const PAGE_SIZE = 25;
/** Decided calls on the first page. */
const MAX_DECIDED = 5;

/** The inbox: all that waits for the owner, the page of each call with its decision, and the calls that are decided. */
export function addInboxPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  // The lists first: the address of one call would match theirs.
  addListPages(app, parts);
  addTogetherPages(app, parts);
  addCallPages(app, parts);
}

function addListPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { addPage } = ownerPages(app, parts, "approver");
  const { approvals } = parts;
  addPage("/inbox", async (c, owner) => {
    const { accountId, csrfToken } = owner;
    const after = readPlace(c.req.query("after"));
    const decided = await approvals.list(accountId, { isWaiting: false, limit: MAX_DECIDED });
    const waiting = await listWaiting(parts, accountId, { limit: PAGE_SIZE, after });
    const groups = await approvals.listGroups(accountId);
    const shown = [...decided, ...groups, ...waiting.items.flatMap(({ call }) => call ?? [])];
    const last = await describeTogether(parts, accountId, c.req.query());
    const body = inboxBody({
      waiting,
      groups: groups.map((group) => ({ ...group, title: titleOfTool(parts, group.toolName) })),
      decided: after === undefined ? decided : [],
      isFirst: after === undefined,
      names: await nameCallersOf(parts, accountId, shown),
      opened: await approvals.listOpened(owner.id),
      csrfToken,
      now: parts.now(),
      notice: last?.text,
    });
    const title = waiting.total === 0 ? "Inbox" : `Inbox (${waiting.total})`;
    const refreshSeconds = last?.isMoving === true ? REFRESH.running : REFRESH.list;
    return { title, body, section: "inbox", refreshSeconds };
  });
  addPage("/inbox/decided", async (c, { accountId }) => {
    const after = readPlace(c.req.query("after"));
    const found = await approvals.list(accountId, { isWaiting: false, after, limit: PAGE_SIZE + 1 });
    const shown = found.slice(0, PAGE_SIZE);
    const last = found.length > PAGE_SIZE ? shown.at(-1) : undefined;
    const next = last && { time: last.requestedAt, id: last.id };
    const list = { names: await nameCallersOf(parts, accountId, shown), now: parts.now() };
    return { title: "Decided calls", body: decidedBody(shown, { ...list, next }), section: "inbox" };
  });
}

/** Several calls, whole, on one page with one decision. */
function addTogetherPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { addPage, addForm } = ownerPages(app, parts, "approver");
  const { approvals } = parts;
  addPage("/inbox/together", async (c, owner) => {
    const { accountId, csrfToken } = owner;
    const { calls, total } = await readTogether(approvals, accountId, c.req.query());
    const names = await nameCallersOf(parts, accountId, calls);
    const items = [];
    for (const approval of calls) {
      await approvals.markOpened(owner.id, approval);
      const files = await seeFiles(parts, accountId, approval);
      items.push({ approval, files, caller: findCaller(names, approval), now: parts.now() });
    }
    const showsPictures = items.some(({ files }) => files.some((one) => one.isPicture));
    return { title: "Several calls", body: togetherBody({ items, total, csrfToken }), section: "inbox", showsPictures };
  });
  addForm("/inbox/approve", async (_c, { owner, form }) => {
    const calls = form.getAll("call").map((call) => {
      const [id = "", fingerprint = ""] = call.split(" ");
      return { id, fingerprint };
    });
    const isApproved = !form.has("decision") || readDecision(form) === "approve";
    return toNotice(isApproved, await decide(parts, owner, calls, { isApproved, reason: readReason(form) }));
  });
}

function titleOfTool({ catalog }: ServiceParts, toolName: HeldApproval["toolName"]): string {
  return catalog.find(toolName)?.action.title ?? toolName;
}
