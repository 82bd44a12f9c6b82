import { isRecord } from "../../../shared/base/json.ts";
import type { HeldApproval } from "../../approvals/approval-rows.ts";
import { followApproval } from "../../approvals/follow-approval.ts";
import { refuseHeld } from "../../approvals/hold-call.ts";
import { blockedOutcome, type StoredExecution } from "../../executions/outcome.ts";
import type { McpCall, McpResult } from "../mcp-features.ts";
import type { ToolParts } from "./tool-results.ts";

/** Key of the question that opens the owner's page, and the mark of its state. */
const OWNER = "owner";
/** How long a call waits for the owner whose page was opened, in milliseconds; clients wait 60 seconds by default. */
const OPENED_WAIT_MS = 30_000;

/** Id of the approval that the service holds for a refused call; undefined where it holds none. */
export function findHeldId({ error }: StoredExecution): string | undefined {
  const approval = error?.options.extra?.approval;
  return isRecord(approval) ? String(approval.id) : undefined;
}

/**
 * The question that opens the owner's page, for a client that opens addresses; undefined for another, and for a call that
 * has asked it. The answer says that the page was offered and decides nothing.
 */
export function offerOwnerPage(
  { approvals }: ToolParts,
  call: McpCall,
  outcome: StoredExecution,
): McpResult | undefined {
  const id = findHeldId(outcome);
  if (id === undefined || !call.canAsk("url") || call.state !== undefined) return undefined;
  const message = `${outcome.error?.message} Open the page of your svc service to decide.`;
  const params = { mode: "url", message, url: approvals.urlOf(id) };
  return call.ask({ [OWNER]: { method: "elicitation/create", params } }, { asked: OWNER, id });
}

/** The held call that {@link offerOwnerPage} asked about, after some waiting; undefined for any other call. */
export async function resumeHeld(parts: ToolParts, call: McpCall): Promise<StoredExecution | undefined> {
  const asked = isRecord(call.state?.data) && call.state.data.asked === OWNER ? call.state.data : undefined;
  if (asked === undefined) return undefined;
  const answer = call.answers[OWNER];
  const isOpened = isRecord(answer) && answer.action === "accept";
  return readHeld(parts, call, { id: String(asked.id), waitMs: isOpened ? OPENED_WAIT_MS : 0 });
}

/** How a held call stands or ended, after waiting for its end; undefined when this key has no approval of that id. */
export async function readHeld(
  parts: ToolParts,
  { principal, clientGone }: McpCall,
  { id, waitMs }: { readonly id: string; readonly waitMs: number },
): Promise<StoredExecution | undefined> {
  const patience = { waitMs, clientGone, toEnd: true };
  const held = await followApproval(parts.approvals, { principal, id }, patience);
  return held && ((await parts.approvals.findResult(held)) ?? (await describeHeld(parts, held)));
}

async function describeHeld({ approvals, access, now }: ToolParts, held: HeldApproval): Promise<StoredExecution> {
  const { toolName } = held;
  const { catalog } = await access.view(held);
  const error = refuseHeld(held, approvals);
  return blockedOutcome(error, new Date(now()).toISOString(), { toolName, entry: catalog.find(toolName) });
}
