import { isRecord } from "../../base/json.ts";
import type { GraphConfig, InterruptFunction } from "./graph-config.ts";
import type { PastQuestion, ShownQuestion } from "./interrupt-payload.ts";

/** One run of a task, as far as it decides which stored answers nobody asks for any more. */
export interface SkippableRun {
  readonly config: GraphConfig;
  readonly interrupt: InterruptFunction;
  /** What was asked in this run so far; what is skipped is added. */
  readonly past: PastQuestion[];
  /** True when a call of this name has ended in this run. */
  hasLeft(caller: string): boolean;
}

/** How many interrupts this run of the task has come by, and how many answers the graph holds for it. */
export function countAnswers({ configurable }: GraphConfig): { readonly passed: number; readonly stored: number } {
  const run: unknown = configurable?.__pregel_scratchpad;
  if (!isRecord(run) || !Array.isArray(run.resume) || typeof run.interruptCounter !== "number")
    return { passed: 0, stored: 0 };
  return { passed: run.interruptCounter + 1, stored: run.resume.length };
}

/** Whether the graph holds an answer that this run of the task has not taken yet. */
export function hasStoredAnswer(config: GraphConfig): boolean {
  const { passed, stored } = countAnswers(config);
  return stored > passed;
}

/** Takes up to `count` stored answers that were once given to `caller`, which asked nothing this time. */
export function skipCount(run: SkippableRun, caller: string, count: number): void {
  for (let left = count; left > 0 && hasStoredAnswer(run.config); left -= 1) {
    skip(run, { caller, asked: [], counted: [] });
  }
}

/** Takes the stored answers to what was `shown` before, up to the first question whose call is still to come. */
export function skipShown(run: SkippableRun, shown: ShownQuestion): void {
  const asked = [...shown.past, { ...shown, counted: [] }];
  for (let next = asked[run.past.length]; next !== undefined; next = asked[run.past.length]) {
    if (!run.hasLeft(next.caller) || !hasStoredAnswer(run.config)) break;
    skip(run, next);
  }
}

function skip({ interrupt, past }: SkippableRun, { caller, asked, counted }: PastQuestion): void {
  interrupt(null);
  past.push({ caller, asked, counted });
}
