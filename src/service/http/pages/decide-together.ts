import { z } from "zod";
import { cleanText } from "../../../shared/base/text.ts";
import type { HeldApproval } from "../../approvals/approval-rows.ts";
import type { Decided, ShownCall } from "../../approvals/decide-call.ts";
import type { OwnerSession } from "../../auth/owner-sessions.ts";
import { isDoubtful } from "../../executions/summarise-outcome.ts";
import type { ServiceParts } from "../service-parts.ts";
import { MAX_REASON } from "./call-card.ts";

/** The decision of a signed-in person about calls that their browser was shown. */
export function decide(
  { approvals }: ServiceParts,
  owner: OwnerSession,
  calls: readonly ShownCall[],
  decision: { isApproved: boolean; reason: string | undefined },
): Promise<Decided> {
  return approvals.decide(owner.accountId, calls, { ...decision, browser: owner.id, by: owner.person.name });
}

/** The reason in a form; undefined where it has none. */
export function readReason(form: URLSearchParams): string | undefined {
  return cleanText(form.get("reason") ?? "", MAX_REASON) ?? undefined;
}

const countSchema = z.coerce.number().int().min(0).max(5000);
const noticeSchema = z.union([
  z.object({
    approved: countSchema,
    left: countSchema,
    behind: countSchema.default(0),
    decision: z.string().optional(),
  }),
  z.object({ declined: countSchema, left: countSchema }),
]);

/** The address of the inbox that tells what became of calls that were decided together. */
export function toNotice(isApproved: boolean, { decision, decided, left, behind }: Decided): string {
  if (!isApproved) return `/inbox?declined=${decided}&left=${left}`;
  const more = `${behind > 0 ? `&behind=${behind}` : ""}${decided > 0 ? `&decision=${decision}` : ""}`;
  return `/inbox?approved=${decided}&left=${left}${more}`;
}

/** What became of calls that were decided together: of approved ones, how they ended up to now. */
export async function describeTogether(
  { approvals }: ServiceParts,
  accountId: string,
  query: Readonly<Record<string, string>>,
): Promise<{ readonly text: string; readonly isMoving: boolean } | undefined> {
  const told = noticeSchema.safeParse(query).data;
  if (told === undefined) return undefined;
  const { left } = told;
  const rest = left === 0 ? "" : ` ${left} not: decided, withdrawn, expired, or not opened in this browser.`;
  if ("declined" in told) {
    if (told.declined + left === 0) return { text: "Nothing was chosen, so nothing was declined.", isMoving: false };
    return { text: `Declined: ${told.declined}. Nothing of them was run.${rest}`, isMoving: false };
  }
  const { approved, behind, decision } = told;
  if (approved + left === 0) {
    return { text: "Nothing was chosen, so nothing was approved.", isMoving: false };
  }
  const waits =
    behind === 0
      ? ""
      : ` ${behind} of them could have been, but one before on the same account could not: decide anew.`;
  const calls = decision === undefined ? [] : await approvals.list(accountId, { decision, limit: 5000 });
  const isMoving = calls.some(({ status }) => status === "approved" || status === "running");
  return { text: `Approved: ${approved}.${rest}${waits}${describeEnds(calls)}`, isMoving };
}

/** The ends in the order in which they are told. */
const ENDS = [
  ["done", "Done"],
  ["failed", "Failed"],
  ["unknown", "Outcome unknown"],
  ["void", "Could not be run"],
  ["again", "Waiting again, because a call before it on the same account did not succeed"],
  ["open", "Running, or next in line"],
] as const;

function describeEnds(calls: readonly HeldApproval[]): string {
  const ends = calls.map(findEnd);
  return ENDS.map(([end, name]) => {
    const count = ends.filter((one) => one === end).length;
    return count === 0 ? "" : ` ${name}: ${count}.`;
  }).join("");
}

function findEnd({ status, failure }: HeldApproval): (typeof ENDS)[number][0] | undefined {
  if (status === "done") return failure === undefined ? "done" : isDoubtful(failure) ? "unknown" : "failed";
  if (status === "approved" || status === "running") return "open";
  if (status === "void") return "void";
  return status === "pending" ? "again" : undefined;
}
