import type { SvcClient } from "../client/client.ts";
import { startStopwatch } from "../client/stopwatch.ts";
import type { CallOptions } from "../client/transport.ts";
import type { FlowView } from "../wire/flow.ts";
import { isAtRest } from "./read-flow.ts";

const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 3_000;

/** How long and how a flow is watched. */
export interface WatchOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds to watch at most; default without limit. */
  readonly forMs?: number | undefined;
  readonly now?: (() => number) | undefined;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/**
 * Polls a flow and yields its view whenever something about it changed, the first one at once. Ends when the flow has
 * ended, waits for a human, or the time is over. Waits grow from a quarter of a second to three seconds while nothing
 * changes.
 */
export async function* watchFlow(client: SvcClient, id: string, options: WatchOptions): AsyncGenerator<FlowView> {
  const { signal, forMs = Number.POSITIVE_INFINITY, now = Date.now, sleep } = options;
  const call: CallOptions = signal === undefined ? {} : { signal };
  const elapsed = startStopwatch(now);
  let before = "";
  let wait = FIRST_WAIT_MS;
  for (;;) {
    const view = await client.getFlow(id, call);
    const after = describeProgress(view);
    wait = after === before ? Math.min(MAX_WAIT_MS, wait * 1.5) : FIRST_WAIT_MS;
    if (after !== before) yield view;
    before = after;
    if (isAtRest(view)) return;
    const left = forMs - elapsed();
    if (left <= 0) return;
    await sleep(Math.min(wait, left), signal);
  }
}

function describeProgress({ flow, steps }: FlowView): string {
  const states = steps.map(({ stepKey, status, attemptCount, output }) => [stepKey, status, attemptCount, output]);
  return JSON.stringify([flow.status, flow.currentStep, states]);
}
