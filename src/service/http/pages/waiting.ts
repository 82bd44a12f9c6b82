import type { Flow } from "../../../shared/wire/flow.ts";
import type { HeldApproval } from "../../approvals/approval-rows.ts";
import type { ListPlace } from "../../approvals/list-approvals.ts";
import type { ServiceParts } from "../service-parts.ts";

/** One thing that the owner has to decide about, with the time since when it waits. */
export type WaitingItem = ListPlace &
  ({ readonly call: HeldApproval; readonly flow?: undefined } | { readonly flow: Flow; readonly call?: undefined });

/** A part of everything that waits, newest first. */
export interface WaitingPart {
  readonly items: readonly WaitingItem[];
  /** How many wait altogether. */
  readonly total: number;
  /** Where the next part begins; undefined on the last. */
  readonly next: ListPlace | undefined;
}

/** Calls and flows that wait for the owner, the `limit` newest after a place. */
export async function listWaiting(
  { approvals, flows }: Pick<ServiceParts, "approvals" | "flows">,
  accountId: string,
  { limit, after }: { limit: number; after?: ListPlace | undefined },
): Promise<WaitingPart> {
  const part = { limit: limit + 1, after };
  const calls = await approvals.list(accountId, { isWaiting: true, ...part });
  const waiting = await flows.listWaiting(accountId, part);
  const items: WaitingItem[] = [
    ...calls.map((call) => ({ time: call.requestedAt, id: call.id, call })),
    ...waiting.map((flow) => ({ time: flow.updatedAt ?? "", id: flow.id, flow })),
  ];
  items.sort((a, b) => compare(b.time, a.time) || compare(b.id, a.id));
  const shown = items.slice(0, limit);
  const total = (await approvals.countWaiting(accountId)) + (await flows.countWaiting(accountId));
  return { items: shown, total, next: items.length > limit ? shown.at(-1) : undefined };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
