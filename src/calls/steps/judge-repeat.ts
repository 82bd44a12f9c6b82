import type { CatalogEntry, KeyPromise } from "../catalog/catalog-entry.ts";
import { type ApprovedFacts, isWithin, type JournalRecord } from "../journal/journal-record.ts";
import type { ConnectionChoice } from "../outcome.ts";
import type { CallPlan, Pipeline } from "../pipeline.ts";
import { cleanText } from "../safe-text.ts";
import type { CallRecord } from "./call-record.ts";
import { findPinObjection } from "./plan-call.ts";

/** A request that may be made again: it acts at most once per key. */
export type Repeatable = NonNullable<JournalRecord["repeatable"]>;

/** Whether a request may be made again: `why` says in a clause what is not as it was approved. */
export type RepeatVerdict =
  | { readonly kind: "same" }
  | { readonly kind: "changed"; readonly why: string; readonly canLookUp: boolean };

/** What the approval of a plan was given for, with the account that the request will act on; `fresh` is the tool now. */
export function describeApproved(
  plan: CallPlan,
  record: Pick<CallRecord, "approval">,
  { fresh, promise }: { readonly fresh: CatalogEntry; readonly promise: KeyPromise },
): ApprovedFacts {
  const { entry, connectionId } = plan;
  const id = connectionId ?? findDefault(fresh)?.id;
  const shown = [...entry.connections, ...fresh.connections].find((choice) => choice.id === id);
  return {
    effect: entry.effect,
    schemaHash: entry.schemaHash ?? fresh.schemaHash,
    ...(id === undefined ? {} : { account: { id, label: shown?.label ?? id } }),
    namesAccount: promise.namesAccount && id !== undefined,
    ...(record.approval === undefined ? {} : { until: Date.parse(record.approval.expiresAt) }),
  };
}

/** The account the service uses for a request that names none. */
export function findDefault({ connections }: CatalogEntry): ConnectionChoice | undefined {
  return connections.length === 1 ? connections[0] : connections.find((choice) => choice.isDefault);
}

/**
 * Compares what a human saw with the tool as the service describes it now, before a request that was sent at `sentAt`
 * (milliseconds since the epoch) is made again. Throws SvcError when the service cannot be asked.
 */
export async function judgeRepeat(
  pipeline: Pipeline,
  toolName: string,
  { repeatable, sentAt }: { readonly repeatable: Repeatable; readonly sentAt: number },
): Promise<RepeatVerdict> {
  const before = pipeline.catalog.peek(toolName);
  const { entry } = await pipeline.catalog.refresh(toolName);
  // The entry stays the same object where the service has no description any more.
  const fresh = entry === before ? undefined : entry;
  const canLookUp = entry?.keys?.canLookUp === true;
  const why =
    fresh === undefined
      ? "the service does not describe this tool any more"
      : (findEnd(pipeline, repeatable, sentAt) ?? findChange(pipeline, repeatable.approved, fresh));
  return why === undefined ? { kind: "same" } : { kind: "changed", why, canLookUp };
}

function findEnd(pipeline: Pipeline, { until, approved }: Repeatable, sentAt: number): string | undefined {
  const now = pipeline.now();
  if (pipeline.settings.idempotencyKeys === "off") return "sending again is turned off";
  if (!isWithin(now, sentAt, until)) return "too much time has passed since, or the clock was set back";
  return approved?.until !== undefined && now >= approved.until ? "the approval has expired" : undefined;
}

function findChange(pipeline: Pipeline, approved: ApprovedFacts | undefined, fresh: CatalogEntry): string | undefined {
  if (approved === undefined) return "nothing was recorded of what was approved";
  const { effect } = fresh;
  if (effect !== approved.effect) return `the effect of the tool changed (${approved.effect} before, ${effect} now)`;
  if (fresh.schemaHash !== approved.schemaHash) return "the arguments of the tool changed";
  if (findPinObjection(pipeline, fresh) !== undefined) return "the tool is not as it was pinned";
  return findOtherAccount(approved, fresh) ?? findWithdrawal(pipeline, approved, fresh.name);
}

function findOtherAccount({ account, namesAccount }: ApprovedFacts, fresh: CatalogEntry): string | undefined {
  if (fresh.keys === undefined) return "the service keeps no idempotency keys any more";
  if (namesAccount && !fresh.keys.namesAccount) return "the service does not take the account of a request any more";
  const now = namesAccount ? fresh.connections.find(({ id }) => id === account?.id) : findDefault(fresh);
  if (account === undefined) return now === undefined ? undefined : "there is another account now";
  if (now === undefined) return namesAccount ? "the account is gone" : "the account is not the default one any more";
  if (now.id !== account.id) return "the default account is another one now";
  if (now.label === account.label) return undefined;
  return `the account has another name (${cleanText(account.label, 80)} before, ${cleanText(now.label, 80)} now)`;
}

function findWithdrawal(pipeline: Pipeline, approved: ApprovedFacts, tool: string): string | undefined {
  if (approved.until !== undefined) return undefined;
  const { principal } = pipeline.client;
  const subject = { principal, tool, connection: approved.account?.id, effect: approved.effect };
  return pipeline.rules.allows(subject) ? undefined : "the standing permission was taken back";
}
