import type { Hono } from "hono";
import { parseExactly } from "../../../shared/base/exact-number.ts";
import { describeRule, findRule, type RuleContent, ruleContentSchema } from "../../access/rules.ts";
import type { HeldApproval } from "../../approvals/approval-rows.ts";
import type { OwnerSession } from "../../auth/owner-sessions.ts";
import { mayDo } from "../../auth/people.ts";
import { ServiceError } from "../../service-error.ts";
import { ownerPages, readDecision } from "../owner-browser.ts";
import { findNotice, type RouteEnv } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import { type CallCard, callCard } from "./call-card.ts";
import { decide, readReason } from "./decide-together.ts";
import { type SeenFile, seeFile, sendFile } from "./file-preview.ts";
import { findCaller, hrefOf } from "./inbox-list.ts";
import { nameCallersOf } from "./name-callers.ts";
import type { Page } from "./page.ts";
import { listWaiting } from "./waiting.ts";

const NOTICES: Readonly<Record<string, string>> = {
  approved: "Approved. The call runs now. Those that were asked before it on the same account go first.",
  allowed: "Approved. The call runs now, and later ones of this tool on this account are not asked about.",
  edited:
    "Approved, as you edited it. The call runs now. Those that were asked before it on the same account go first.",
  checked: "A check changed what you wrote, so nothing was approved yet: look at the call once more.",
  declined: "Declined. Nothing was run.",
  stopped: "Stopped. Nothing was done.",
  begun: "It was begun before you pressed the button.",
  again: "This is the same call, as it would run now.",
  changed: "This call was decided, withdrawn or has expired before you pressed the button. Nothing more was done.",
};

/** Notices of calls that were approved. */
const RUNS: ReadonlySet<string> = new Set(["approved", "allowed", "edited"]);

/** Seconds after which an approved call looks for its end. */
const REFRESH_SECONDS = 2;

/** The page of each held call, with its files and its decision. */
export function addCallPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { addPage, addForm } = ownerPages(app, parts, "approver");
  addPage("/inbox/:id", async (c, owner) => {
    const approval = await requireApproval(parts, owner.accountId, c.req.param("id"));
    return showCall(parts, owner, { approval, notice: c.req.query("notice"), isEditing: c.req.query("edit") === "1" });
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
    const choice = form.get("decision");
    const approval = await requireApproval(parts, owner.accountId, id);
    if (choice === "edit") return editAndApprove(parts, owner, { approval, form });
    if (choice === "look") return lookAgain(parts, owner, approval);
    if (choice === "stop") {
      const isStopped = await stopCall(parts, owner, approval);
      if (isStopped) audit({ event: "execution.stopped", did: "stopped the call", name: nameCall(approval), id });
      return `/inbox/${encodeURIComponent(id)}?notice=${isStopped ? "stopped" : "begun"}`;
    }
    const isAlways = choice === "always";
    const decision = isAlways ? "approve" : readDecision(form);
    if (isAlways && !(await mayAllow(parts, owner, approval))) throw alwaysAsked();
    const shown = { id, fingerprint: form.get("fingerprint") ?? "" };
    const isApproved = decision === "approve";
    const { decided } = await decide(parts, owner, [shown], { isApproved, reason: readReason(form) });
    const isDecided = decided > 0;
    if (isDecided && isAlways) {
      const rule = await parts.rules.add(allowRule(approval), owner.person.name);
      audit({ event: "rule.added", did: "added the rule", name: describeRule(rule), id: rule.id });
    }
    const notice = isDecided ? `${isAlways ? "allowe" : decision}d` : "changed";
    return `/inbox/${encodeURIComponent(id)}?notice=${notice}`;
  });
}

/** The page of one call, with what was typed and is wrong where an edit was refused. */
async function showCall(
  parts: ServiceParts,
  owner: OwnerSession,
  o: {
    readonly approval: HeldApproval;
    readonly notice: string | undefined;
    readonly isEditing: boolean;
    readonly draft?: CallCard["draft"];
    /** In place of a notice. */
    readonly problem?: string;
  },
): Promise<Page> {
  const { accountId, csrfToken } = owner;
  const { approval, notice, isEditing, draft } = o;
  const { status, content } = approval;
  const isOpen = status === "pending" && content !== undefined;
  if (isOpen) await parts.approvals.markOpened(owner.id, approval);
  const files = await seeFiles(parts, accountId, approval);
  const stop = await findStop(parts, approval);
  const body = callCard({
    approval,
    files,
    caller: findCaller(await nameCallersOf(parts, accountId, [approval]), approval),
    csrfToken,
    now: parts.now(),
    notice: o.problem ?? (RUNS.has(notice ?? "") ? nameRun(notice, { isOpen, stop }) : findNotice(NOTICES, notice)),
    others: notice === "allowed" ? await countOthers(parts, approval) : 0,
    mayAllow: isOpen && (await mayAllow(parts, owner, approval)),
    stop,
    nextHref: isOpen ? undefined : await findNext(parts, accountId),
    isEditing,
    draft,
  });
  const isMoving = status === "approved" || status === "running";
  return {
    title: content?.title ?? approval.toolName,
    body,
    section: "inbox",
    ...(isMoving && { refreshSeconds: REFRESH_SECONDS }),
    ...(draft !== undefined && { status: 400 }),
    showsPictures: files.some((one) => one.isPicture),
  };
}

function nameCall({ content, toolName }: HeldApproval): string {
  return content?.title ?? toolName;
}

/** Whether a call that was approved has not begun, and until when it can be stopped. */
async function findStop(
  parts: ServiceParts,
  { accountId, status, executionId }: HeldApproval,
): Promise<CallCard["stop"]> {
  if (status === "approved") return { until: undefined };
  if (status !== "running" || executionId === null) return undefined;
  const until = (await parts.activity.find(accountId, executionId))?.waits_until;
  return until == null ? undefined : { until };
}

/** Stops an approved call that has not begun; false for any other. */
async function stopCall(parts: ServiceParts, owner: OwnerSession, approval: HeldApproval): Promise<boolean> {
  const { accountId, id } = approval;
  if (await parts.approvals.takeBack(accountId, { id, by: owner.person.name })) return true;
  const { executionId } = await requireApproval(parts, accountId, id);
  return executionId !== null && parts.delays.stop(accountId, { id: executionId, title: nameCall(approval) });
}

/** What is said of a call that was just approved: nothing of one that waits again, and no more than that of one that can be stopped. */
function nameRun(
  notice: string | undefined,
  { isOpen, stop }: { readonly isOpen: boolean; readonly stop: CallCard["stop"] },
): string | undefined {
  if (isOpen) return undefined;
  return stop?.until === undefined ? findNotice(NOTICES, notice) : "Approved.";
}

/** Lets a call that was void wait once more, as it would run now; says why where it cannot run any more. */
async function lookAgain(parts: ServiceParts, owner: OwnerSession, approval: HeldApproval): Promise<Page | string> {
  try {
    const next = await parts.approvals.lookAgain(owner.accountId, approval.id);
    return `/inbox/${encodeURIComponent(next ?? approval.id)}?notice=${next === undefined ? "changed" : "again"}`;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status >= 500) throw error;
    const problem = `It cannot run as it is now. ${error.message}`;
    return showCall(parts, owner, { approval, notice: undefined, isEditing: false, problem });
  }
}

/** Approves a call with other arguments; shows them again where a check changed them, or refused them. */
async function editAndApprove(
  parts: ServiceParts,
  owner: OwnerSession,
  { approval, form }: { readonly approval: HeldApproval; readonly form: URLSearchParams },
): Promise<Page | string> {
  const text = form.get("arguments") ?? "";
  const page = `/inbox/${encodeURIComponent(approval.id)}`;
  const shown = { id: approval.id, fingerprint: form.get("fingerprint") ?? "" };
  try {
    const edit = { args: parseArguments(text), browser: owner.id, by: owner.person.name };
    const edited = await parts.approvals.edit(owner.accountId, shown, edit);
    if (edited?.isChanged === true) return `${page}?notice=checked`;
    const calls = edited === undefined ? [] : [{ ...shown, fingerprint: edited.fingerprint }];
    const { decided } = await decide(parts, owner, calls, { isApproved: true, reason: undefined });
    return `${page}?notice=${decided > 0 ? "edited" : "changed"}`;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status >= 500) throw error;
    const more = (error.options.details ?? []).filter((line) => !error.message.includes(line));
    const problem = [error.message, ...more].join(" ");
    return showCall(parts, owner, { approval, notice: undefined, isEditing: true, draft: { text, problem } });
  }
}

function parseArguments(text: string): unknown {
  try {
    return parseExactly(text);
  } catch (cause) {
    const why = cause instanceof Error ? `: ${cause.message}` : "";
    throw new ServiceError(400, "invalid_arguments", `This is not JSON${why}.`);
  }
}

/** The files of a call as a page shows them. */
export async function seeFiles(
  { blobs }: ServiceParts,
  accountId: string,
  { content }: HeldApproval,
): Promise<SeenFile[]> {
  const files: SeenFile[] = [];
  for (const file of content?.files ?? []) files.push(await seeFile(blobs, accountId, file));
  return files;
}

/** How many calls of the same tool on the same account wait. */
async function countOthers({ approvals }: ServiceParts, { accountId, toolName, connectionId }: HeldApproval) {
  return (await approvals.list(accountId, { isWaiting: true, toolName, connectionId })).length;
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

async function findNext(parts: ServiceParts, accountId: string): Promise<string | undefined> {
  const { items } = await listWaiting(parts, accountId, { limit: 1 });
  return items[0] && hrefOf(items[0]);
}

async function requireApproval({ approvals }: ServiceParts, accountId: string, id: string): Promise<HeldApproval> {
  const found = await approvals.find(accountId, id);
  if (found !== undefined) return found;
  throw new ServiceError(404, "approval_not_found", "There is no such request, or it was removed with the old log.");
}
