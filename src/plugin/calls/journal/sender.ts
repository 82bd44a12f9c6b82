import { hostname } from "node:os";
import { throwIfAborted } from "../ask/abort.ts";
import type { CallContext } from "../steps/plan.ts";
import { isUnanswered, type JournalRecord } from "./journal-record.ts";

/** The process that sends a call. */
export type Sender = NonNullable<JournalRecord["sender"]>;

/** This process. */
export const THIS_PROCESS: Sender = { host: hostname(), pid: process.pid };

const FIRST_WAIT_MS = 20;
const MAX_WAIT_MS = 500;

/**
 * Waits while another run sends the call, no longer than a call may take with its upload. Returns what the journal says
 * then; undefined if it turned out that nothing was sent. A process of this machine that has ended is not waited for.
 */
export async function awaitSender(
  { journal, now, settings, sleep, signal }: CallContext,
  known: JournalRecord,
): Promise<JournalRecord | undefined> {
  let found: JournalRecord | undefined = known;
  let left = 2 * settings.timeoutMs - Math.max(0, now() - known.at);
  let wait = FIRST_WAIT_MS;
  while (found !== undefined && isUnderWay(found) && left > 0) {
    await sleep(wait, signal);
    throwIfAborted(signal);
    left -= wait;
    wait = Math.min(2 * wait, MAX_WAIT_MS);
    found = await journal.find(known);
  }
  return found;
}

/** True while a process that lives waits for the answer of a request. */
export function isUnderWay(record: JournalRecord): boolean {
  const { sender, isLost } = record;
  return isUnanswered(record) && sender !== undefined && isLost !== true && isAlive(sender);
}

/** Processes of another machine, and of another user, count as alive. */
function isAlive({ host, pid }: Sender): boolean {
  if (host !== THIS_PROCESS.host) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}
