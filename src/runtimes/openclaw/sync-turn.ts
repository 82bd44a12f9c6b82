import { mkdir } from "node:fs/promises";
import { type LockLimits, withWriteLock } from "../../approvals/write-lock.ts";
import type { Places } from "./places.ts";

/** The host takes seconds to change its configuration on a busy machine. */
const LIMITS: LockLimits = { staleAfterMs: 60_000, giveUpAfterMs: 90_000, field: "actions" };

/**
 * Runs `work` while no other sync, removal or refresh of this state folder changes the action tools, in this process or
 * another: tools, names and configuration are three files, and must be of one sync.
 *
 * @throws SvcError `invalid_config` when another one does not end within 90 s
 */
export async function inSyncTurn<Result>(places: Places, work: () => Promise<Result>): Promise<Result> {
  await mkdir(places.state, { recursive: true, mode: 0o700 });
  return withWriteLock(`${places.actions}.lock`, work, LIMITS);
}
