import type { FlowStep } from "../../wire/flow.ts";
import type { Markup } from "./page.ts";
import { tag } from "./state-tag.ts";

type Named = readonly [tone: Parameters<typeof tag>[0], name: string];

const FLOW_STATES: Readonly<Record<string, Named>> = {
  pending: ["plain", "About to run"],
  running: ["plain", "Running"],
  waiting: ["warn", "Waiting"],
  completed: ["ok", "Done"],
  failed: ["bad", "Failed"],
  cancelled: ["plain", "Cancelled"],
};

const STEP_STATES: Readonly<Record<string, Named>> = {
  pending: ["plain", "Not yet"],
  running: ["plain", "Running"],
  waiting: ["warn", "Waiting"],
  completed: ["ok", "Done"],
  failed: ["bad", "Failed"],
  skipped: ["plain", "Skipped"],
};

/** Status of a flow. */
export function flowTag(status: string): Markup {
  return tag(...(FLOW_STATES[status] ?? (["plain", status] as const)));
}

/** Status of a step. */
export function stepTag({ status }: Pick<FlowStep, "status">): Markup {
  return tag(...(STEP_STATES[status] ?? (["plain", status] as const)));
}
