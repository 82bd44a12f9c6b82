import type { OutcomeStatus } from "../../calls/outcome.ts";
import type { SessionEvent } from "../../calls/session-events.ts";
import { isSvcError, type SvcError } from "../../errors.ts";
import { createCallId, nameCall } from "./ask/decisions.ts";
import type { HostToolContext, HostToolResult } from "./host/host-tool.ts";
import { ASK_TO_PAIR } from "./setup/explain-pairing.ts";
import { noteAccount, type SvcHost } from "./svc-host.ts";
import type { HostOutcome, HostToolDefinition } from "./translate-tool.ts";

/** One call as the host makes it. */
interface Execution {
  readonly toolCallId: string;
  readonly arguments: unknown;
  readonly signal: AbortSignal | undefined;
  readonly onUpdate: ((partial: HostToolResult) => void) | undefined;
}

/** Runs a call and tells the host how it ended. Throws for a call that was stopped, and for nothing else. */
export async function runHostCall(
  host: SvcHost,
  context: HostToolContext,
  definition: HostToolDefinition,
  execution: Execution,
): Promise<HostToolResult> {
  return toHostResult(await runCall(host, context, definition, execution));
}

async function runCall(
  host: SvcHost,
  context: HostToolContext,
  definition: HostToolDefinition,
  { toolCallId, signal, onUpdate, arguments: args }: Execution,
): Promise<HostOutcome> {
  const askState = await host.openAskState();
  const callId = createCallId(context, toolCallId, askState.decisions.findRun(nameCall(context, toolCallId)));
  const progress = onUpdate && reportProgress(callId, onUpdate);
  let stopListening: (() => void) | undefined;
  try {
    const { createHumanChannel } = await import("./ask/human-channel.ts");
    const account = await host.openAccount(context);
    noteAccount(host, context, account.session.principal);
    const { explain, ...channel } = createHumanChannel({ ...host, ...askState }, context, toolCallId);
    stopListening = progress && account.onEvent(progress.listen);
    return explain(adviseOnKey(await definition.run(account, { callId, arguments: args, signal, ...channel })));
  } catch (error) {
    signal?.throwIfAborted();
    if (isSvcError(error)) return describeRefusal(definition.name, error);
    if (error instanceof Error && error.name === "AbortError") throw error;
    host.log.error(`${definition.name} failed: ${error instanceof Error ? (error.stack ?? error.message) : "?"}`);
    return describeBreakdown(definition.name);
  } finally {
    stopListening?.();
    progress?.stop();
  }
}

/** A key the service does not accept any more: the pairing is made again here, and not by the command line of ours. */
function adviseOnKey(outcome: HostOutcome): HostOutcome {
  return outcome.code === "unauthorized" ? { ...outcome, hint: ASK_TO_PAIR } : outcome;
}

/** Why there is no session for this call: no key, unusable settings. */
function describeRefusal(toolName: string, error: SvcError): HostOutcome {
  const { code, message, hint, retryable } = error;
  return { status: "failed", toolName, code, message, retryable, notes: [], ...(hint === undefined ? {} : { hint }) };
}

function describeBreakdown(toolName: string): HostOutcome {
  const message = "The call could not be carried out on this machine.";
  const hint = "Tell the user to look at the host's log; calling again will not help.";
  return { status: "failed", toolName, code: "internal", message, hint, retryable: false, notes: [] };
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

/** The outcome once, as text; the details are only what the host judges a call by, since a model may read them too. */
async function toHostResult(outcome: HostOutcome): Promise<HostToolResult> {
  const { renderOutcome } = await import("../../calls/safe-text.ts");
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

/** Tells the host how one call goes on. */
interface ProgressReporter {
  readonly listen: (event: SessionEvent) => void;
  /** Nothing is shown any more. */
  stop(): void;
}

/** Runs `work` after `ms` milliseconds unless the returned function is called before. */
export type Delay = (ms: number, work: () => void) => () => void;

/**
 * Shows a line for each step of the call `callId` that takes a while. The words are fixed, because everybody in the
 * conversation may see them: no argument, no file name, no text of the service.
 */
export function reportProgress(
  callId: string,
  onUpdate: (partial: HostToolResult) => void,
  delay: Delay = delayWork,
): ProgressReporter {
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
    listen(event) {
      if (!("callId" in event) || event.callId !== callId) return;
      stopWaiting?.();
      const text = describeStep(event.type);
      if (text !== undefined && text !== shown) stopWaiting = delay(SHOWN_AFTER_MS, () => show(text));
    },
    stop: () => stopWaiting?.(),
  };
}

function delayWork(ms: number, work: () => void): () => void {
  const timer = setTimeout(work, ms);
  timer.unref();
  return () => clearTimeout(timer);
}

function describeStep(type: SessionEvent["type"]): string | undefined {
  switch (type) {
    case "approval_requested":
      return "Waiting for an approval…";
    case "uploading":
      return "Uploading a file…";
    case "sending":
      return "Waiting for the app…";
    case "flow_progress":
      return "A flow is running…";
    default:
      return undefined;
  }
}
