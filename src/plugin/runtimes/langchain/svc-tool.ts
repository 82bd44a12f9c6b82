import { type CallbackManagerForToolRun, parseCallbackConfigArg } from "@langchain/core/callbacks/manager";
import { ToolMessage } from "@langchain/core/messages";
import { StructuredTool, type ToolRunnableConfig } from "@langchain/core/tools";
import { z } from "zod";
import { isRecord } from "../../../shared/base/json.ts";
import type { JsonSchema } from "../../../shared/wire/tool.ts";
import { isAbort, isControlFlow, throwIfAborted } from "../../calls/ask/abort.ts";
import { renderOutcome, type ToolOutcome } from "../../calls/outcome.ts";
import type { SessionEvent } from "../../calls/session-events.ts";
import { type GraphConfig, identifyCall, markNotRetryable } from "./graph-config.ts";
import type { AskQuestion } from "./human-channel.ts";
import { createProgressReporter } from "./progress.ts";

/** A call as it arrives from LangChain, reduced to what the pipeline takes. */
export interface LangChainCall {
  /** The same when a graph makes the same call again. */
  readonly callId: string;
  /** The model's own id of the call. */
  readonly toolCallId: string | undefined;
  /** The tool's name for the model. */
  readonly toolName: string;
  readonly arguments: unknown;
  /** The run's own configuration, for choosing an approver or an account. */
  readonly config: ToolRunnableConfig & GraphConfig;
  /** Answers a human gave beforehand, by question id. */
  readonly answers?: ReadonlyMap<string, unknown> | undefined;
  /** Told about each step. */
  readonly report?: ((event: SessionEvent) => void) | undefined;
}

type ToolSchema = StructuredTool["schema"];

/** Lets every input through unchanged. */
const ANYTHING: ToolSchema = z.any();

/** LangChain's own tools end with the TimeoutError of their run's signal, and with an AbortError otherwise. */
function nameTimeout(error: unknown, { reason }: AbortSignal): unknown {
  return isAbort(error) && reason instanceof Error && reason.name === "TimeoutError" ? reason : error;
}

/** How the call ended that a tool message answers; undefined for messages of other tools. */
export function readOutcome(message: unknown): ToolOutcome | undefined {
  const artifact: unknown = isRecord(message) ? message.artifact : undefined;
  const isOurs = isRecord(artifact) && typeof artifact.status === "string" && typeof artifact.toolName === "string";
  return isOurs && Array.isArray(artifact.notes) ? (artifact as unknown as ToolOutcome) : undefined;
}

/** Parts of a {@link SvcTool}. */
export interface SvcToolFields {
  readonly name: string;
  /** A function is asked each time. */
  readonly description: string | (() => string);
  /**
   * JSON Schema as models are shown it. A function is asked each time, so that a tool in use shows its new schema once
   * the service has changed it.
   */
  readonly schema: JsonSchema | (() => JsonSchema);
  /** Settings for model providers, such as `defer_loading`. */
  readonly extras?: Record<string, unknown>;
  /** Shown in traces; never sent to the model. */
  readonly metadata?: Record<string, unknown>;
  readonly run: (call: LangChainCall) => Promise<ToolOutcome>;
  /** Asks `ask` what the call has to be asked first; sends nothing. */
  readonly preview?: (call: LangChainCall, ask: AskQuestion) => Promise<void>;
}

/**
 * A LangChain tool over one tool of the service. A service outcome is never thrown: it comes back as a ToolMessage,
 * status `error` unless it succeeded, with the whole {@link ToolOutcome} as its artifact. Thrown are only the
 * AbortError or TimeoutError of the run's signal and a graph's control flow, marked as not worth another try.
 */
export class SvcTool extends StructuredTool {
  static override lc_name(): string {
    return "SvcTool";
  }

  override name: string;
  override responseFormat: "content_and_artifact" = "content_and_artifact";
  readonly #fields: SvcToolFields;
  readonly #answers: ReadonlyMap<string, unknown> | undefined;
  #isCalled = false;

  constructor(fields: SvcToolFields, answers?: ReadonlyMap<string, unknown>) {
    super({
      responseFormat: "content_and_artifact",
      ...(fields.metadata === undefined ? {} : { metadata: fields.metadata }),
      ...(fields.extras === undefined ? {} : { extras: fields.extras }),
    });
    this.name = fields.name;
    this.#fields = fields;
    this.#answers = answers;
  }

  override get description(): string {
    const { description } = this.#fields;
    return typeof description === "function" ? description() : description;
  }

  /** While the tool is called, a schema that any input matches. */
  override get schema(): ToolSchema {
    if (this.#isCalled) return ANYTHING;
    const { schema } = this.#fields;
    return (typeof schema === "function" ? schema() : schema) as ToolSchema;
  }

  /**
   * LangChain checks the input before it waits for anything, and throws for a slip. The pipeline checks arguments, and
   * explains a slip. Without a name for the run, traces and streams would call every tool by its class.
   */
  override async call(...args: Parameters<StructuredTool["call"]>): ReturnType<StructuredTool["call"]> {
    const [input, given, ...rest] = args;
    const config: ToolRunnableConfig = parseCallbackConfigArg(given);
    this.#isCalled = true;
    try {
      return super.call(input, { ...config, runName: config.runName ?? this.name }, ...rest);
    } finally {
      this.#isCalled = false;
    }
  }

  /** The same tool, which asks nothing that a human has answered beforehand. */
  withAnswers(answers: ReadonlyMap<string, unknown>): SvcTool {
    return new SvcTool(this.#fields, answers);
  }

  /** Asks `ask` what a call made now would have to be asked first; sends nothing. */
  async preview(call: { id: string; args: unknown }, config: GraphConfig, ask: AskQuestion): Promise<void> {
    await this.#fields.preview?.(this.#describeCall(call.id, call.args, config as ToolRunnableConfig), ask);
  }

  #describeCall(toolCallId: string | undefined, args: unknown, config: ToolRunnableConfig & GraphConfig) {
    const { name } = this;
    const callId = identifyCall(config, toolCallId, { name, args });
    return { callId, toolCallId, toolName: name, arguments: args, config };
  }

  protected override async _call(
    input: unknown,
    runManager?: CallbackManagerForToolRun,
    config: ToolRunnableConfig & GraphConfig = {},
  ): Promise<[ToolMessage | string, ToolOutcome]> {
    const toolCallId = config.toolCall?.id;
    const progress = createProgressReporter({ toolCallId, writer: config.writer, runManager });
    try {
      throwIfAborted(config.signal);
      const call = this.#describeCall(toolCallId, input, config);
      const outcome = await this.#fields.run({ ...call, answers: this.#answers, report: progress.report });
      return [this.#createMessage(outcome, toolCallId), outcome];
    } catch (error) {
      if (config.signal?.aborted === true) throw markNotRetryable(nameTimeout(error, config.signal));
      throw isControlFlow(error) ? markNotRetryable(error) : error;
    } finally {
      await progress.flush(config.signal);
    }
  }

  #createMessage(outcome: ToolOutcome, toolCallId: string | undefined): ToolMessage | string {
    const content = renderOutcome(outcome);
    if (outcome.status === "succeeded" || toolCallId === undefined) return content;
    return new ToolMessage({
      content,
      artifact: outcome,
      name: this.name,
      tool_call_id: toolCallId,
      status: "error",
    });
  }
}
