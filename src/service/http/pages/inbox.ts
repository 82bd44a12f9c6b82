import type { Hono } from "hono";
import { z } from "zod";
import { cleanText } from "../../../base/text.ts";
import { describeRule, findRule, type RuleContent, ruleContentSchema } from "../../access/rules.ts";
import type { HeldApproval } from "../../approvals/approval-rows.ts";
import { toSubject } from "../../auth/grants.ts";
import type { OwnerSession } from "../../auth/owner-sessions.ts";
import { mayDo } from "../../auth/people.ts";
import { ServiceError } from "../../service-error.ts";
import type { ApiKeyRow } from "../../store/schema.ts";
import { ownerPages, readDecision } from "../owner-browser.ts";
import { findNotice, type RouteEnv } from "../request.ts";
import { describeApp } from "../routes/oauth.ts";
import type { ServiceParts } from "../service-parts.ts";
import { callCard, MAX_REASON } from "./call-card.ts";
import { type SeenFile, seeFile, sendFile } from "./file-preview.ts";
import { decidedBody, findCaller, hrefOf, inboxBody } from "./inbox-list.ts";
import { readPlace } from "./places.ts";
import { listWaiting } from "./waiting.ts";

const NOTICES: Readonly<Record<string, string>> = {
  approved: "Approved. The call runs now.",
  allowed: "Approved. The call runs now, and later ones of this tool on this account are not asked about.",
  declined: "Declined. Nothing was run.",
  changed: "This call was decided, withdrawn or has expired before you pressed the button. Nothing more was done.",
};

/** Seconds after which the list looks for new requests, and an approved call for its end. */
const REFRESH = { list: 10, running: 2 } as const;
/** Requests on one page. */
const PAGE_SIZE = 25;
/** Decided calls on the first page. */
const MAX_DECIDED = 5;

/** The inbox: all that waits for the owner, the page of each call with its decision, and the calls that are decided. */
export function addInboxPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  // The lists first: the address of one call would match theirs.
  addListPages(app, parts);
  addCallPages(app, parts);
}

function addListPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { addPage, addForm } = ownerPages(app, parts, "approver");
  const { approvals } = parts;
  addPage("/inbox", async (c, owner) => {
    const { accountId, csrfToken } = owner;
    const after = readPlace(c.req.query("after"));
    const decided = await approvals.list(accountId, { isWaiting: false, limit: MAX_DECIDED });
    const waiting = await listWaiting(parts, accountId, { limit: PAGE_SIZE, after });
    const shown = [...decided, ...waiting.items.flatMap(({ call }) => call ?? [])];
    const body = inboxBody({
      waiting,
      decided: after === undefined ? decided : [],
      isFirst: after === undefined,
      names: await nameCallersOf(parts, accountId, shown),
      opened: await approvals.listOpened(owner.id),
      csrfToken,
      now: parts.now(),
      notice: describeSeveral(c.req.query()),
    });
    const title = waiting.total === 0 ? "Inbox" : `Inbox (${waiting.total})`;
    return { title, body, section: "inbox", refreshSeconds: REFRESH.list };
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
  addForm("/inbox/approve", async (_c, { owner, form }) => {
    let approved = 0;
    const chosen = form.getAll("call");
    for (const call of chosen) {
      const [id = "", fingerprint = ""] = call.split(" ");
      if (await decide(parts, owner, id, { isApproved: true, fingerprint })) approved += 1;
    }
    return `/inbox?approved=${approved}&left=${chosen.length - approved}`;
  });
}

function addCallPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { addPage, addForm } = ownerPages(app, parts, "approver");
  const { approvals } = parts;
  addPage("/inbox/:id", async (c, owner) => {
    const { accountId, csrfToken } = owner;
    const approval = await requireApproval(parts, accountId, c.req.param("id"));
    const { status, content } = approval;
    const isOpen = status === "pending" && content !== undefined;
    if (isOpen) await approvals.markOpened(owner.id, approval);
    const files: SeenFile[] = [];
    for (const file of content?.files ?? []) files.push(await seeFile(parts.blobs, accountId, file));
    const body = callCard({
      approval,
      files,
      caller: findCaller(await nameCallersOf(parts, accountId, [approval]), approval),
      csrfToken,
      now: parts.now(),
      notice: findNotice(NOTICES, c.req.query("notice")),
      mayAllow: isOpen && (await mayAllow(parts, owner, approval)),
      nextHref: isOpen ? undefined : await findNext(parts, accountId),
    });
    const isMoving = status === "approved" || status === "running";
    const looks = {
      ...(isMoving && { refreshSeconds: REFRESH.running }),
      showsPictures: files.some((one) => one.isPicture),
    };
    return { title: content?.title ?? approval.toolName, body, section: "inbox", ...looks };
  });
  for (const kind of ["", "/picture"] as const) {
    addPage(`/inbox/:id/files/:index${kind}`, async (c, { accountId }) => {
      const { content } = await requireApproval(parts, accountId, c.req.param("id") ?? "");
      const file = content?.files[Number(c.req.param("index"))];
      return sendFile(parts.blobs, { accountId, file, asPicture: kind !== "" });
    });
  }
  addForm("/inbox/:id", async (c, { owner, form, audit }) => {
    const id = c.req.param("id");
    const isAlways = form.get("decision") === "always";
    const decision = isAlways ? "approve" : readDecision(form);
    const approval = await requireApproval(parts, owner.accountId, id);
    if (isAlways && !(await mayAllow(parts, owner, approval))) throw alwaysAsked();
    const isDecided = await decide(parts, owner, id, {
      isApproved: decision === "approve",
      fingerprint: form.get("fingerprint") ?? "",
      reason: cleanText(form.get("reason") ?? "", MAX_REASON) ?? undefined,
    });
    if (isDecided && isAlways) {
      const rule = await parts.rules.add(allowRule(approval), owner.person.name);
      audit({ event: "rule.added", did: "added the rule", name: describeRule(rule), id: rule.id });
    }
    const notice = isDecided ? `${isAlways ? "allowe" : decision}d` : "changed";
    return `/inbox/${encodeURIComponent(id)}?notice=${notice}`;
  });
}

function decide(
  { approvals }: ServiceParts,
  owner: OwnerSession,
  id: string,
  decision: { isApproved: boolean; fingerprint: string; reason?: string | undefined },
): Promise<boolean> {
  return approvals.decide(owner.accountId, id, { ...decision, browser: owner.id, by: owner.person.name });
}

/** Allows a tool on an account, while it has the same effect. */
function allowRule({ toolName, connectionId, level }: HeldApproval): RuleContent {
  return { effect: "allow", tool: toolName, level, account: connectionId, note: "Made in the inbox" };
}

/** False for an approver, for deletes and administration, and where another rule would count more. */
async function mayAllow({ catalog, rules }: ServiceParts, { person }: OwnerSession, approval: HeldApproval) {
  const entry = catalog.find(approval.toolName);
  if (entry === undefined || !mayDo(person.role, "owner")) return false;
  const { connectionId, apiKeyId: subject } = approval;
  const strict = findRule(await rules.list(), { entry, connectionId, subject });
  return strict === undefined && ruleContentSchema.safeParse(allowRule(approval)).success;
}

function alwaysAsked(): ServiceError {
  return new ServiceError(403, "always_asked", "Every call of this tool is asked about. Go back and approve this one.");
}

const countSchema = z.coerce.number().int().min(0).max(500);
const severalSchema = z.object({ approved: countSchema, left: countSchema });

/** The notice after several calls were approved at once. */
function describeSeveral(query: Readonly<Record<string, string>>): string | undefined {
  const several = severalSchema.safeParse(query).data;
  if (several === undefined) return undefined;
  const { approved, left } = several;
  if (approved + left === 0) return "Nothing was chosen, so nothing was approved.";
  const rest = left === 0 ? "" : ` ${left} not: decided, withdrawn, expired, or not opened in this browser.`;
  return `Approved: ${approved}.${rest}`;
}

async function findNext(parts: ServiceParts, accountId: string): Promise<string | undefined> {
  const { items } = await listWaiting(parts, accountId, { limit: 1 });
  return items[0] && hrefOf(items[0]);
}

async function requireApproval({ approvals }: ServiceParts, accountId: string, id: string): Promise<HeldApproval> {
  const found = await approvals.find(accountId, id);
  if (found !== undefined) return found;
  throw new ServiceError(404, "approval_not_found", "There is no such request, or it was removed with the old log.");
}

/** Names of the keys and OAuth clients that asked for these calls. */
async function nameCallersOf(parts: ServiceParts, accountId: string, calls: readonly HeldApproval[]) {
  const ids = [...new Set(calls.map(({ apiKeyId }) => apiKeyId))];
  return nameCallers(parts, accountId, await parts.keys.listById(accountId, ids));
}

/** Names of keys and OAuth clients, by the id that an approval has. */
export async function nameCallers(
  { oauth }: ServiceParts,
  accountId: string,
  keys: readonly ApiKeyRow[],
): Promise<ReadonlyMap<string, string>> {
  const devices = keys.map(({ id, label }) => [id, label] as const);
  const apps = (await oauth.listApps(accountId)).map(({ clientId, name, redirectUri }) => {
    const { clientName, destination } = describeApp(name, redirectUri);
    return [toSubject(clientId), clientName ?? destination] as const;
  });
  return new Map([...devices, ...apps]);
}
