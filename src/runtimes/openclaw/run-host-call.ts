import { isSvcError, type SvcError } from "../../errors.ts";
import type { OutcomeStatus } from "../../tools/outcome.ts";
import { createCallId } from "./call-id.ts";
import { nameCall } from "./decision-book.ts";
import { ASK_TO_PAIR } from "./explain-pairing.ts";
import type { HostToolContext, HostToolResult } from "./host-tool.ts";
import { reportProgress } from "./report-progress.ts";
import { noteAccount } from "./seen-accounts.ts";
import type { SvcHost } from "./svc-host.ts";
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
  const books = await host.openBooks();
  const callId = createCallId(context, toolCallId, books.decisions.findRun(nameCall(context, toolCallId)));
  const progress = onUpdate && reportProgress(callId, onUpdate);
  let stopListening: (() => void) | undefined;
  try {
    const { createHumanChannel } = await import("./human-channel.ts");
    const desk = await host.openDesk(context);
    noteAccount(host, context, desk.session.principal);
    const { explain, ...channel } = createHumanChannel({ ...host, ...books }, context, toolCallId);
    stopListening = progress && desk.onEvent(progress.listen);
    return explain(adviseOnKey(await definition.run(desk, { callId, arguments: args, signal, ...channel })));
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
  const { renderOutcome } = await import("../../tools/render-outcome.ts");
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
