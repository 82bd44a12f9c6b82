import { html } from "hono/html";
import type { FlowStep } from "../../../wire/flow.ts";
import type { ConnectionState, ExecutionRow } from "../../store/schema.ts";
import type { Markup } from "./page.ts";

type Tone = "ok" | "warn" | "bad" | "plain";

const CONNECTION_STATES: Readonly<Record<ConnectionState, readonly [Tone, string]>> = {
  healthy: ["ok", "Connected"],
  reauth_required: ["warn", "Sign-in needed"],
  error: ["bad", "Needs attention"],
};

const EXECUTION_STATES: Readonly<Record<ExecutionRow["status"], readonly [Tone, string]>> = {
  started: ["plain", "Running"],
  succeeded: ["ok", "Done"],
  failed: ["bad", "Failed"],
  refused: ["warn", "Not run"],
};

/** The statuses of the log with their names. */
export const EXECUTION_STATUS_NAMES = Object.entries(EXECUTION_STATES).map(
  ([status, [, name]]) => [status, name] as const,
);

/** State of a connection: a coloured dot and, for everybody, the word. */
export function connectionTag(state: ConnectionState): Markup {
  return tag(...CONNECTION_STATES[state]);
}

/** Status of an execution. */
export function executionTag(status: ExecutionRow["status"]): Markup {
  return tag(...EXECUTION_STATES[status]);
}

/** A coloured dot and a word. */
export function tag(tone: Tone, text: string): Markup {
  return html`<span class="tag ${tone}">${text}</span>`;
}

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
