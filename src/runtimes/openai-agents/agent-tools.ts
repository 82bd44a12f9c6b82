import { type FunctionTool, type RunContext, type RunToolApprovalItem, tool } from "@openai/agents";
import { isRecord } from "../../base/json.ts";
import type { ApprovalRequest } from "../../calls/ask/request.ts";
import { SvcError } from "../../errors.ts";
import { type AskedTools, openAskedTools } from "../library/asked-calls.ts";
import type { OfferedTool, Toolbox, ToolboxOptions } from "../library/open-toolbox.ts";

/** A call that a run stopped for. */
export interface AgentApproval {
  /** For `state.approve` and `state.reject`. */
  readonly interruption: RunToolApprovalItem;
  readonly request: ApprovalRequest;
  /** The request as lines of text for the human. */
  readonly card: readonly string[];
}

/** The user's tools for the OpenAI Agents SDK. */
export interface AgentTools {
  /** For `tools` of an agent, as the tools are known now. */
  readonly tools: FunctionTool[];
  /** The open questions of a stopped run that are ours, also of one that was read from text. */
  readApprovals(state: StoppedRun): Promise<AgentApproval[]>;
  readonly session: Toolbox["session"];
  /** Writes the cache and closes journal and connections. */
  close(): Promise<void>;
}

/** A `RunState`. */
interface StoppedRun {
  getInterruptions(): RunToolApprovalItem[];
  toJSON(): { readonly context: { readonly context: unknown } };
}

/** Stands in the context of a run, which the text of its state holds. */
const KEY = "svcApprovals";

/**
 * Opens the user's tools for the OpenAI Agents SDK, whose runs stop for approvals. With `approve` the approver is asked
 * instead, and with `approve: "owner"` the owner of the service.
 *
 * @example
 * const { tools, readApprovals } = await openAgentTools({ baseUrl, apiKey, stateDir });
 * const { state } = await run(new Agent({ name: "Assistant", tools }), "Write a note");
 * for (const { interruption, card } of await readApprovals(state)) state.approve(interruption);
 *
 * @throws SvcError for bad settings, an unreachable service or a key it does not accept
 */
export async function openAgentTools(options: ToolboxOptions): Promise<AgentTools> {
  const asked = await openAskedTools(options);
  return {
    get tools() {
      return asked.tools.map((one) => createTool(asked, one));
    },
    async readApprovals(state) {
      const kept = readKept(state.toJSON().context.context);
      const found = state.getInterruptions().map(async (interruption) => {
        const { rawItem } = interruption;
        const question = await asked.session.reopen(String("callId" in rawItem ? kept[rawItem.callId] : ""));
        if (question?.kind !== "approval") return [];
        return [{ interruption, request: question.request, card: question.card }];
      });
      return (await Promise.all(found)).flat();
    },
    session: asked.session,
    close: asked.close,
  };
}

function createTool(asked: AskedTools, offered: OfferedTool): FunctionTool {
  return tool({
    name: offered.name,
    description: offered.description,
    // The pipeline checks arguments, and explains a slip.
    strict: false,
    parameters: offered.schema as never,
    needsApproval: async (runContext: RunContext, input: unknown, callId = "") => {
      const call = { tool: offered, arguments: input };
      const kept = openKept(runContext);
      // The SDK asks again once there is an answer, which counts for the call that was shown and for no other.
      if (runContext.isToolApproved({ toolName: offered.name, callId }) === true) return true;
      if ((await asked.findOpen(kept[callId], call)) !== undefined) return true;
      const question = await asked.prepare(call);
      if (question === undefined) return false;
      kept[callId] = question.state;
      return true;
    },
    execute: async (input: unknown, runContext?: RunContext, details?) => {
      const call = { tool: offered, arguments: input };
      const { signal, toolCall } = details ?? {};
      const kept = runContext === undefined ? {} : openKept(runContext);
      const callId = toolCall?.callId ?? "";
      // Only calls that were approved come here. An answer counts for one of them: models repeat their ids.
      const question = await asked.findOpen(kept[callId], call);
      delete kept[callId];
      return asked.run(call, { approved: question?.state, signal });
    },
  });
}

function readKept(context: unknown): Record<string, unknown> {
  const kept = isRecord(context) ? context[KEY] : undefined;
  return isRecord(kept) ? kept : {};
}

/** The questions of a run by call id, to be changed. */
function openKept({ context }: RunContext): Record<string, unknown> {
  if (!isRecord(context)) {
    throw new SvcError("invalid_config", "The context of a run must be an object: it keeps what its user was asked.", {
      field: "context",
      hint: "Give run() an object as context, or none.",
    });
  }
  const kept = readKept(context);
  context[KEY] = kept;
  return kept;
}
