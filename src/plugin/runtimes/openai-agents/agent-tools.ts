import { type FunctionTool, type RunContext, type RunToolApprovalItem, tool } from "@openai/agents";
import { isRecord, parseJson } from "../../../shared/base/json.ts";
import { SvcError } from "../../../shared/errors.ts";
import { createApprovalCard } from "../../calls/ask/card.ts";
import { type ApprovalRequest, createApprovalRequest } from "../../calls/ask/request.ts";
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
  /**
   * The open questions of a stopped run that are ours, also of one that was read from text. The SDK stops for a call whose
   * arguments are no JSON object too: its card says that nothing is run, whatever the answer is.
   */
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
/** Questions of this process that can be shown where a context cannot be written down. */
const MOST_SHOWN = 100;
const BROKEN_TTL_MS = 10 * 60 * 1_000;

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
  const shown = new Map<string, string>();
  const show = (callId: string, state: string) => {
    shown.delete(callId);
    shown.set(callId, state);
    const [oldest] = shown.keys();
    if (shown.size > MOST_SHOWN && oldest !== undefined) shown.delete(oldest);
  };
  return {
    get tools() {
      return asked.tools.map((one) => createTool(asked, one, show));
    },
    async readApprovals(state) {
      const kept = readStateKept(state) ?? Object.fromEntries(shown);
      const found = state.getInterruptions().map(async (interruption) => {
        const { rawItem } = interruption;
        const question = await asked.session.reopen(String("callId" in rawItem ? kept[rawItem.callId] : ""));
        if (question?.kind === "approval") return [{ interruption, request: question.request, card: question.card }];
        const broken = describeBroken(rawItem, asked);
        return broken === undefined ? [] : [{ interruption, request: broken, card: createApprovalCard(broken) }];
      });
      return (await Promise.all(found)).flat();
    },
    session: asked.session,
    close: asked.close,
  };
}

function createTool(
  asked: AskedTools,
  offered: OfferedTool,
  show: (callId: string, state: string) => void,
): FunctionTool {
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
      show(callId, question.state);
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
      const text = await asked.run(call, { approved: question?.state, signal });
      const isUnasked =
        question === undefined && runContext?.isToolApproved({ toolName: offered.name, callId }) === true;
      return isUnasked ? explainUnasked(text) : text;
    },
  });
}

/** The questions in the context of a stopped run; undefined where the SDK cannot write it down. */
function readStateKept(state: StoppedRun): Record<string, unknown> | undefined {
  try {
    return readKept(state.toJSON().context.context);
  } catch {
    return undefined;
  }
}

/** A call that cannot run, as a request: the SDK stops for it, and it needs an answer to go on. */
function describeBroken(item: RunToolApprovalItem["rawItem"], { tools, session }: AskedTools) {
  const tool = item.type === "function_call" ? tools.find(({ name }) => name === item.name) : undefined;
  if (item.type !== "function_call" || tool === undefined || isRecord(parseJson(item.arguments))) return undefined;
  const text = "The arguments of this call are no JSON object. Nothing is run, whatever you answer; the model is told.";
  const { toolName, name } = tool;
  const entry = session.catalog.peek(toolName);
  const facts = { tool: toolName, integration: entry?.integration ?? "", title: entry?.title ?? name };
  const rest = { arguments: {}, files: [], effect: entry?.effect ?? "unknown", description: "", reason: text } as const;
  const time = { now: Date.now(), ttlMs: BROKEN_TTL_MS };
  return createApprovalRequest({ ...facts, ...rest, canEdit: false, principal: session.principal }, time);
}

/** A call that the run approved although nobody was asked about it ends unrun; the host is told why. */
function explainUnasked(text: string): string {
  const outcome = parseJson(text);
  if (!isRecord(outcome) || outcome.status !== "needs_approval") return text;
  const hint = `The program approved this call without showing it: alwaysApprove approves no call of these tools, and a state that was read with another context has lost its questions. Each call needs state.approve by itself. ${String(outcome.hint ?? "")}`;
  return JSON.stringify({ ...outcome, hint: hint.trim() });
}

function readKept(context: unknown): Record<string, unknown> {
  const kept = isRecord(context) ? context[KEY] : undefined;
  return isRecord(kept) ? kept : {};
}

/** The questions of a run by call id, to be changed. */
function openKept({ context }: RunContext): Record<string, unknown> {
  if (!isRecord(context) || !(KEY in context || Object.isExtensible(context))) {
    throw new SvcError(
      "invalid_config",
      "The context of a run must be an object that can be added to: it keeps what its user was asked.",
      {
        field: "context",
        hint: "Give run() an object as context, or none.",
      },
    );
  }
  const kept = readKept(context);
  if (context[KEY] !== kept) context[KEY] = kept;
  return kept;
}
