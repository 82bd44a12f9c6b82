import { randomUUID } from "node:crypto";
import type { CallbackManagerForToolRun } from "@langchain/core/callbacks/manager";
import { ToolMessage } from "@langchain/core/messages";
import { StructuredTool, type ToolRunnableConfig } from "@langchain/core/tools";
import { throwIfAborted } from "../../tools/abort.ts";
import type { ToolOutcome } from "../../tools/outcome.ts";
import { renderOutcome } from "../../tools/render-outcome.ts";

/** A call as it arrives from LangChain, reduced to what the pipeline takes. */
export interface LangChainCall {
  readonly callId: string;
  readonly arguments: unknown;
  readonly signal?: AbortSignal;
  /** The run's own configuration, for choosing an approver or an account. */
  readonly config: ToolRunnableConfig;
}

type Carrier = StructuredTool["schema"];

/** What {@link SvcTool} is made of. */
export interface SvcToolFields {
  readonly name: string;
  readonly description: string;
  /** Accepts every input: the pipeline checks arguments, so that a slip is explained and not thrown. */
  readonly schema: Carrier;
  /** Shown in traces; never sent to the model. */
  readonly metadata?: Record<string, unknown>;
  readonly run: (call: LangChainCall) => Promise<ToolOutcome>;
}

/**
 * A LangChain tool over one tool of the service. A service outcome is never thrown: it comes back as a ToolMessage,
 * status `error` unless it succeeded, with the whole {@link ToolOutcome} as its artifact. Thrown are only an
 * AbortError and a graph's control flow.
 */
export class SvcTool extends StructuredTool {
  static override lc_name(): string {
    return "SvcTool";
  }

  override name: string;
  override description: string;
  override schema: Carrier;
  override responseFormat: "content_and_artifact" = "content_and_artifact";
  readonly #run: SvcToolFields["run"];

  constructor(fields: SvcToolFields) {
    super({
      responseFormat: "content_and_artifact",
      ...(fields.metadata === undefined ? {} : { metadata: fields.metadata }),
    });
    this.name = fields.name;
    this.description = fields.description;
    this.schema = fields.schema;
    this.#run = fields.run;
  }

  protected override async _call(
    input: unknown,
    _runManager?: CallbackManagerForToolRun,
    config: ToolRunnableConfig = {},
  ): Promise<[ToolMessage | string, ToolOutcome]> {
    throwIfAborted(config.signal);
    const outcome = await this.#run({
      callId: identifyCall(config),
      arguments: input,
      config,
      ...(config.signal === undefined ? {} : { signal: config.signal }),
    });
    const content = renderOutcome(outcome);
    const callId = config.toolCall?.id;
    if (outcome.status === "succeeded" || callId === undefined) return [content, outcome];
    const message = new ToolMessage({
      content,
      artifact: outcome,
      name: this.name,
      tool_call_id: callId,
      status: "error",
    });
    return [message, outcome];
  }
}

/**
 * The id under which a graph makes the same call again after a crash or an interrupt: thread, checkpoint and tool call.
 * Without a thread nothing can come back, and models may repeat their own ids, so each call gets a fresh one.
 */
function identifyCall(config: ToolRunnableConfig): string {
  const info: unknown = "executionInfo" in config ? config.executionInfo : undefined;
  const thread = readText(info, "threadId") ?? readText(config.configurable, "thread_id");
  const call = config.toolCall?.id;
  if (thread === undefined || call === undefined) return randomUUID();
  const checkpoint = readText(info, "checkpointId") ?? readText(config.configurable, "checkpoint_id") ?? "";
  return JSON.stringify([thread, checkpoint, call]);
}

function readText(holder: unknown, key: string): string | undefined {
  if (typeof holder !== "object" || holder === null) return undefined;
  const value: unknown = Reflect.get(holder, key);
  return typeof value === "string" && value !== "" ? value : undefined;
}
