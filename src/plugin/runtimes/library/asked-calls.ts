import { randomUUID } from "node:crypto";
import { canonicalJson } from "../../calls/ask/fingerprint.ts";
import type { PreparedCall } from "../../calls/continue.ts";
import { renderOutcome } from "../../calls/outcome.ts";
import type { ToolCall } from "../../calls/pipeline.ts";
import { type OfferedTool, openToolbox, type Toolbox, type ToolboxOptions } from "./open-toolbox.ts";

/** A runtime's call of one tool. */
interface AskedCall {
  readonly tool: OfferedTool;
  readonly arguments: unknown;
}

/** The tools of a runtime that asks its human by itself, between one run and the next. */
export interface AskedTools extends Toolbox {
  /** Text that the runtime keeps until the human has answered; undefined for a call that nobody here is asked about. */
  prepare(call: AskedCall): Promise<Question | undefined>;
  /** The question of a kept text, while it is open and about this call. */
  findOpen(state: unknown, call: AskedCall): Promise<Question | undefined>;
  /** Runs a call. `approved`: the kept text of the question that the human has said yes to. */
  run(call: AskedCall, terms: { approved: string | undefined; signal: AbortSignal | undefined }): Promise<string>;
}

type Question = Extract<PreparedCall, { kind: "approval" }>;

/** Questions that came up while their calls ran. Their calls are made again soon, or never. */
const MOST_QUESTIONS = 100;

/**
 * Opens the tools of a runtime that asks by itself. Where the host gave an approver, or the owner of the service decides,
 * the runtime has nothing to ask.
 *
 * @throws SvcError as `openToolbox` does
 */
export async function openAskedTools(options: ToolboxOptions): Promise<AskedTools> {
  const toolbox = await openToolbox(options);
  const { session } = toolbox;
  const asksItself = options.approve === undefined;
  const later = new Map<string, Question>();
  const describe = ({ tool, arguments: args }: AskedCall) => ({ toolName: tool.toolName, arguments: args });
  // Models repeat their ids: a call is known by its question.
  const create = (call: AskedCall): ToolCall => ({ ...describe(call), callId: randomUUID() });

  function keep(call: AskedCall, question: Question | undefined): void {
    if (question === undefined) return;
    later.set(nameCall(call), question);
    const [oldest] = later.keys();
    if (later.size > MOST_QUESTIONS && oldest !== undefined) later.delete(oldest);
  }

  async function start(call: AskedCall, signal: AbortSignal | undefined): Promise<string> {
    const one = { ...create(call), signal };
    const prepared = asksItself ? await session.prepare(one) : undefined;
    // The runtime has asked nobody about a call that had to be asked about: it ends as `needs_approval`.
    if (prepared?.kind !== "none") return (await call.tool.run(call.arguments, one)).text;
    const { outcome, next } = await session.continue(prepared.state, undefined, { signal });
    keep(call, next);
    return renderOutcome(outcome);
  }

  return {
    get tools() {
      return toolbox.tools;
    },
    session,
    close: toolbox.close,
    async prepare(call) {
      if (!asksItself) return undefined;
      const known = later.get(nameCall(call));
      later.delete(nameCall(call));
      const prepared = known ?? (await session.prepare(create(call)));
      return prepared.kind === "approval" ? prepared : undefined;
    },
    async findOpen(state, call) {
      const prepared = typeof state === "string" ? await session.reopen(state, describe(call)) : undefined;
      return prepared?.kind === "approval" ? prepared : undefined;
    },
    async run(call, { approved, signal }) {
      if (approved === undefined) return start(call, signal);
      const terms = { signal, expected: describe(call) };
      const { outcome, next } = await session.continue(approved, { type: "approve" }, terms);
      keep(call, next);
      return renderOutcome(outcome);
    },
  };
}

function nameCall({ tool, arguments: args }: AskedCall): string {
  try {
    return canonicalJson([tool.name, args ?? null]);
  } catch {
    return randomUUID();
  }
}
