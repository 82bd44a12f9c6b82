import type { HostApi } from "./host-api.ts";
import type { HostToolCallContext, HostToolCallEvent, HostToolCallVerdict } from "./host-hook.ts";
import type { SvcHost } from "./svc-host.ts";

/** Asks before one of our tools runs. */
export type Gate = (event: HostToolCallEvent, context: HostToolCallContext) => Promise<HostToolCallVerdict | undefined>;

/**
 * Static tools that change something. Flow tools show no card here, as what they do is known only while they run; they
 * are noted with their run, which their calls are told apart by.
 */
const GATED = ["svc_call_tool", "svc_start_flow", "svc_approve_flow", "svc_resume_flow", "svc_cancel_flow"] as const;

/** Milliseconds for looking at a call: its files are read, and a tool nobody has used yet is described first. */
export const GATE_MS = 60_000;

/**
 * The gate of this host: shows the host one card for a call that is known to change something. Nothing is sent. It lets
 * pass what it cannot judge, since no call is sent without an approval anyway.
 */
export function createGate(host: SvcHost): Gate {
  return async (event, context) => {
    const { judgeCall } = await import("./judge-call.ts");
    return judgeCall({ ...host, ...(await host.openBooks()) }, event, context);
  };
}

/**
 * Registers the gate for the static tools, by their exact names: the host blocks a call when a hook fails, and ours must
 * never block anybody else's. The companion plugin does the same for the action tools.
 */
export function registerGate(api: Pick<HostApi, "on">, host: SvcHost): void {
  api.on("before_tool_call", createGate(host), { matcher: GATED, timeoutMs: GATE_MS });
}
