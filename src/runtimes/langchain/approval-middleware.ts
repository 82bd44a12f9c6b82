import { AsyncLocalStorageProviderSingleton } from "@langchain/core/singletons";
import { z } from "zod";
import { isRecord } from "../../base/json.ts";
import type { AgentMiddleware } from "./agent-middleware.ts";
import { findOfferedTool } from "./dynamic-tools.ts";
import { type GraphConfig, type RequestedCall, readBatch, readOpenCalls } from "./graph-config.ts";
import type { TaskTurn } from "./graph-task.ts";
import type { AnswerSheet } from "./human-channel.ts";
import { loadLangChain } from "./load-langchain.ts";
import { SvcTool } from "./svc-tool.ts";
import type { SvcToolkit } from "./toolkit.ts";

/** Settings of {@link createApprovalMiddleware}. */
export interface ApprovalMiddlewareOptions {
  /** Name among an agent's middleware, which must be unique. Default `SvcApproval`. */
  readonly name?: string | undefined;
}

const NAME = "SvcApproval";
/**
 * Kept between the steps of a run and in its checkpoints, out of the agent's input and output for its underscore. All
 * approval middlewares of an agent share it, so that none repeats a question another has the answer to.
 */
const KEY = "_svcAnswers";
/** Stands among the answers and says which message's calls they are for; no question has such an id. */
const BATCH = "batch";

/**
 * Asks for all calls a model made at once in one interrupt, before any of them runs, and keeps the answers in the
 * agent's state. Put it first: then also questions that only come up during a call, a surprise confirmation or an
 * edit to be seen again, reach the human from outside every other middleware, and a retry middleware cannot swallow
 * them. Approved calls run whatever happens to the others; declined ones are answered with a ToolMessage.
 *
 * Needs `langchain`, which is loaded here and not by the module.
 *
 * @throws SvcError `unsupported` when `langchain` is not installed
 */
export async function createApprovalMiddleware(
  toolkit: SvcToolkit,
  options: ApprovalMiddlewareOptions = {},
): Promise<AgentMiddleware> {
  const { createMiddleware } = await loadLangChain("The approval middleware");
  const { name = NAME } = options;
  return createMiddleware({
    name,
    stateSchema: z.object({ [KEY]: z.record(z.string(), z.unknown()).optional() }),
    afterModel: async (state, runtime) => {
      const config: GraphConfig = { ...runtime, ...readContext(), state };
      const calls = readOpenCalls(state.messages);
      const task = calls.length === 0 ? undefined : toolkit.findAskingTask(config);
      if (task === undefined) return undefined;
      const batch = readBatch(state.messages)?.messageIds.at(-1);
      const kept = readKept(state);
      const known = batch !== undefined && kept.get(BATCH) === batch ? kept : new Map<string, unknown>();
      const answers = await task.run("batch", (turn) => askForBatch(toolkit, { calls, config, turn, known }));
      return { [KEY]: { ...Object.fromEntries(answers), [BATCH]: batch ?? "" } };
    },
    wrapToolCall: async (request, handler) => {
      const { toolCall, runtime, state } = request;
      const tool = request.tool ?? toolkit.findTool(toolCall.name);
      const task = toolkit.findAskingTask({ ...runtime, state });
      // Another toolkit's tool, or one whose answers another middleware brings along already, is not asked about here.
      if (!(tool instanceof SvcTool && toolkit.hasGiven(tool)) || task === undefined) return handler(request);
      return task.run(toolCall.id ?? toolCall.name, (turn) =>
        runAnswered(turn, readKept(state), async (sheet) => handler({ ...request, tool: tool.withSheet(sheet) })),
      );
    },
  });
}

/**
 * The whole context of the run, as tools see it: a middleware is handed only the members that it declares beforehand,
 * and `chooseApprover` may read any.
 */
function readContext(): Pick<GraphConfig, "context"> {
  const run: unknown = AsyncLocalStorageProviderSingleton.getRunnableConfig();
  return isRecord(run) && run.context !== undefined ? { context: run.context } : {};
}

/** The answers in an agent's state by question id. */
function readKept(state: object): Map<string, unknown> {
  const kept: unknown = Reflect.get(state, KEY);
  return new Map(isRecord(kept) ? Object.entries(kept) : []);
}

interface OpenBatch {
  readonly calls: readonly RequestedCall[];
  readonly config: GraphConfig;
  readonly turn: TaskTurn;
  /** Answers that another middleware got for the same calls. */
  readonly known: ReadonlyMap<string, unknown>;
}

/** Rounds, because an answer can raise the next question: first the account, then the approval for it. */
async function askForBatch(toolkit: SvcToolkit, batch: OpenBatch): Promise<Map<string, unknown>> {
  const { calls, config, turn, known } = batch;
  const messages: unknown = isRecord(config.state) ? config.state.messages : undefined;
  const answers = new Map(known);
  for (;;) {
    const sheets = await Promise.all(
      calls.map(async (call) => {
        const sheet: AnswerSheet = { answers };
        const tool = toolkit.findTool(call.name) ?? (await findOfferedTool(toolkit, call.name, messages));
        // An agent has one svc_call_tool only; the one of another toolkit is not asked about here.
        if (tool !== undefined && toolkit.hasGiven(tool)) await tool.preview(call, config, sheet);
        return sheet;
      }),
    );
    // A call that the model repeats under the same id is one call: its question is put once.
    const open = new Map(sheets.flatMap(({ open }) => (open === undefined ? [] : [[open.id, open] as const])));
    if (open.size === 0) return answers;
    for (const [id, answer] of await turn.ask([...open.values()])) answers.set(id, answer);
  }
}

/** Makes the call again, each time with one answer more, until nothing is left to ask. */
async function runAnswered<Result>(
  turn: TaskTurn,
  answers: Map<string, unknown>,
  run: (sheet: AnswerSheet) => Promise<Result>,
): Promise<Result> {
  const sheet: AnswerSheet = { answers };
  for (;;) {
    sheet.open = undefined;
    const result = await run(sheet);
    if (sheet.open === undefined) return result;
    for (const [id, answer] of await turn.ask([sheet.open])) answers.set(id, answer);
  }
}
