import { isSvcError } from "../../../shared/errors.ts";
import type { OutcomeStatus, ToolOutcome } from "../../calls/outcome.ts";
import type { SessionEvent } from "../../calls/session-events.ts";
import { createCallId, nameCall } from "./ask/decisions.ts";
import type { HostToolContext, HostToolResult } from "./host/host-tool.ts";
import { ASK_TO_PAIR } from "./setup/find-key.ts";
import type { SvcHost } from "./svc-host.ts";
import type { HostToolDefinition } from "./translate-tool.ts";

/** Runs a call and tells the host how it ended. Throws for a call that was stopped, and for nothing else. */
export async function runHostCall(
  host: SvcHost,
  context: HostToolContext,
  definition: HostToolDefinition,
  toolCallId: string,
  args: unknown,
  { signal, onUpdate }: { signal: AbortSignal | undefined; onUpdate: ((partial: HostToolResult) => void) | undefined },
): Promise<HostToolResult> {
  const askState = await host.openAskState();
  const name = nameCall(context, toolCallId);
  const callId = createCallId(context, toolCallId, askState.decisions.findRun(name));
  const { place, turn } = askState.decisions.takePlace(name);
  const progress = onUpdate && reportProgress(callId, onUpdate);
  let stopListening: (() => void) | undefined;
  let outcome: ToolOutcome;
  try {
    const { createHumanChannel } = await import("./ask/human-channel.ts");
    const account = await host.openAccount(context);
    host.seenAccounts.set(context.agentDir, account.session.principal);
    const { explain, ...channel } = createHumanChannel({ ...host, ...askState }, context, toolCallId);
    stopListening = progress && account.onEvent(progress.listen);
    outcome = explain(await definition.run(account, { callId, place, turn, arguments: args, signal, ...channel }));
    // The pairing is made again here, and not by the command line of ours.
    if (outcome.code === "unauthorized") outcome = { ...outcome, hint: ASK_TO_PAIR };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof Error && error.name === "AbortError") throw error;
    outcome = describeFailure(host, definition.name, error);
  } finally {
    turn?.leave();
    stopListening?.();
    progress?.stop();
  }
  return toHostResult(outcome);
}

/** The outcome of a call that has no session, for want of a key or usable settings, or that broke down here. */
function describeFailure({ log }: SvcHost, toolName: string, error: unknown): ToolOutcome {
  const failed = { status: "failed", toolName, notes: [] } as const;
  if (isSvcError(error)) {
    const { code, message, hint, retryable } = error;
    return { ...failed, code, message, retryable, ...(hint === undefined ? {} : { hint }) };
  }
  log.error(`${toolName} failed: ${error instanceof Error ? (error.stack ?? error.message) : "?"}`);
  const message = "The call could not be carried out on this machine.";
  const hint = "Tell the user to look at the host's log; calling again will not help.";
  return { ...failed, code: "internal", message, hint, retryable: false };
}

/** How the host names ends of a call: it shows, counts and colours a call by these words. */
const HOST_STATUS: Readonly<Record<OutcomeStatus, string>> = {
  succeeded: "ok",
  needs_approval: "blocked",
  declined: "denied",
  needs_connection: "unavailable",
  failed: "failed",
  unknown: "failed",
};

/** The outcome once, as text. The details hold only the status for the host, since a model may read them too. */
async function toHostResult(outcome: ToolOutcome): Promise<HostToolResult> {
  const { renderOutcome } = await import("../../calls/outcome.ts");
  const { status, code } = outcome;
  return {
    content: [{ type: "text", text: renderOutcome(outcome) }],
    details: {
      status: HOST_STATUS[status],
      ok: status === "succeeded",
      outcome: status,
      ...(code === undefined ? {} : { code }),
    },
  };
}

/** A step shorter than this is not worth a line; an approval that was given beforehand takes none of it. */
const SHOWN_AFTER_MS = 1_000;

/** Runs `work` after `ms` milliseconds unless the returned function is called before. */
export type Delay = (ms: number, work: () => void) => () => void;

/**
 * Shows a line for each step of the call `callId` that takes a while. The words are fixed, because everybody in the
 * conversation may see them: no argument, no file name, no text of the service.
 */
export function reportProgress(callId: string, onUpdate: (partial: HostToolResult) => void, delay: Delay = delayWork) {
  let shown: string | undefined;
  let stopWaiting: (() => void) | undefined;
  const show = (text: string) => {
    shown = text;
    try {
      onUpdate({ content: [], details: {}, progress: { text, visibility: "channel", privacy: "public" } });
    } catch {
      // A line that cannot be shown must not cost the call.
    }
  };
  return {
    listen(event: SessionEvent): void {
      if (!("callId" in event) || event.callId !== callId) return;
      if (event.type === "uploading" && event.sentBytes > 0) return;
      stopWaiting?.();
      const text = STEPS[event.type];
      if (text !== undefined && text !== shown) stopWaiting = delay(SHOWN_AFTER_MS, () => show(text));
    },
    /** Nothing is shown any more. */
    stop: (): void => stopWaiting?.(),
  };
}

function delayWork(ms: number, work: () => void): () => void {
  const timer = setTimeout(work, ms);
  timer.unref();
  return () => clearTimeout(timer);
}

const STEPS: Readonly<Partial<Record<SessionEvent["type"], string>>> = {
  approval_requested: "Waiting for an approval…",
  uploading: "Uploading a file…",
  sending: "Waiting for the app…",
  flow_progress: "A flow is running…",
};
