import { html } from "hono/html";
import type { ConnectionState } from "../integrations/integration.ts";
import type { ExecutionRow } from "../store/schema.ts";
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

/** The statuses of the log and what they are called. */
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
