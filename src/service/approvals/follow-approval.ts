import { setTimeout as sleepFor } from "node:timers/promises";
import type { Principal } from "../auth/api-keys.ts";
import { type HeldApproval, isOpen } from "./approval-rows.ts";
import type { Approvals } from "./approvals.ts";

const LOOK_EVERY_MS = 250;

/** How long to wait for a change: by default not at all. */
export interface Patience {
  readonly waitMs?: number;
  readonly clientGone?: AbortSignal;
  /** Waits for the end of the call; otherwise for any change of the status, or until it waits anew. */
  readonly toEnd?: boolean;
}

/** An approval of this key, after waiting; undefined when the key has none of this id. */
export async function followApproval(
  approvals: Pick<Approvals, "find">,
  { principal, id }: { readonly principal: Principal; readonly id: string },
  { waitMs = 0, clientGone, toEnd = false }: Patience = {},
): Promise<HeldApproval | undefined> {
  const look = async () => {
    const found = await approvals.find(principal.accountId, id);
    return found?.apiKeyId === principal.apiKeyId ? found : undefined;
  };
  const until = performance.now() + waitMs;
  const first = await look();
  // Between two looks it may have been approved and wait again, behind a failure.
  const isUnchanged = ({ status, row }: HeldApproval) => status === first?.status && row.behind === first.row.behind;
  let found = first;
  while (found !== undefined && isOpen(found.status) && (toEnd || isUnchanged(found))) {
    if (performance.now() >= until || clientGone?.aborted) break;
    await sleepFor(LOOK_EVERY_MS);
    found = await look();
  }
  return found;
}
