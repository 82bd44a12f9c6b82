import { AsyncLocalStorageProviderSingleton } from "@langchain/core/singletons";
import { z } from "zod";
import type { AgentMiddleware } from "./agent-middleware.ts";
import type { AnswerSheet } from "./approval-gate.ts";
import { findOfferedTool } from "./dynamic-tools.ts";
import { type GraphConfig, type RequestedCall, readOpenCalls } from "./graph-config.ts";
import { loadLangChain } from "./load-langchain.ts";
import { isRecord } from "./read-value.ts";
import { SvcTool } from "./svc-tool.ts";
import type { DeskSeat, TaskDesk } from "./task-desk.ts";
import type { SvcToolkit } from "./toolkit.ts";

/** Settings of {@link createApprovalMiddleware}. */
export interface ApprovalMiddlewareOptions {
  /** Name among an agent's middleware, which must be unique. Default `SvcApproval`. */
  readonly name?: string | undefined;
}

const NAME = "SvcApproval";

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
  // Kept between the steps of a run and in its checkpoints, for each middleware its own; the underscore keeps it out of
  // the agent's input and output.
  const key = name === NAME ? "_svcAnswers" : `_svcAnswers_${name}`;
  return createMiddleware({
    name,
    stateSchema: z.object({ [key]: z.record(z.string(), z.unknown()).optional() }),
    afterModel: async (state, runtime) => {
      const config: GraphConfig = { ...runtime, ...readContext(), state };
      const calls = readOpenCalls(state.messages);
      const desk = calls.length === 0 ? undefined : toolkit.openDesk(config);
      if (desk === undefined) return undefined;
      const answers = await askForBatch(toolkit, calls, config, desk);
      return { [key]: Object.fromEntries(answers) };
    },
    wrapToolCall: async (request, handler) => {
      const { toolCall, runtime, state } = request;
      const tool = request.tool ?? toolkit.findTool(toolCall.name);
      const desk = toolkit.openDesk({ ...runtime, state });
      // Another toolkit's tool, or one whose answers another middleware brings along already, is not asked about here.
      if (!(tool instanceof SvcTool && toolkit.hasMade(tool)) || desk === undefined) return handler(request);
      const seat = desk.enter(toolCall.id ?? toolCall.name);
      const answers: unknown = Reflect.get(state, key);
      const known = new Map(Object.entries(isRecord(answers) ? answers : {}));
      try {
        return await runAnswered(seat, known, async (sheet) => handler({ ...request, tool: tool.withSheet(sheet) }));
      } finally {
        await seat.leave();
      }
    },
  });
}

/**
 * The whole context of the run, as tools see it: a middleware is handed only those members that it declares beforehand,
 * and which ones `chooseApprover` reads nobody knows.
 */
function readContext(): Pick<GraphConfig, "context"> {
  const run: unknown = AsyncLocalStorageProviderSingleton.getRunnableConfig();
  return isRecord(run) && run.context !== undefined ? { context: run.context } : {};
}

/** Rounds, because an answer can raise the next question: first the account, then the approval for it. */
async function askForBatch(
  toolkit: SvcToolkit,
  calls: readonly RequestedCall[],
  config: GraphConfig,
  desk: TaskDesk,
): Promise<Map<string, unknown>> {
  const seat = desk.enter("batch");
  const messages: unknown = isRecord(config.state) ? config.state.messages : undefined;
  const answers = new Map<string, unknown>();
  for (;;) {
    const sheets = await Promise.all(
      calls.map(async (call) => {
        const sheet: AnswerSheet = { answers, open: undefined };
        const tool = toolkit.findTool(call.name) ?? (await findOfferedTool(toolkit, call.name, messages));
        await tool?.preview(call, config, sheet);
        return sheet;
      }),
    );
    const open = sheets.flatMap((sheet) => (sheet.open === undefined ? [] : [sheet.open]));
    if (open.length === 0) break;
    for (const [id, answer] of await seat.ask(open)) answers.set(id, answer);
  }
  await seat.leave();
  return answers;
}

/** Makes the call again, each time with one answer more, until nothing is left to ask. */
async function runAnswered<Result>(
  seat: DeskSeat,
  answers: Map<string, unknown>,
  run: (sheet: AnswerSheet) => Promise<Result>,
): Promise<Result> {
  for (;;) {
    const sheet: AnswerSheet = { answers, open: undefined };
    const result = await run(sheet);
    if (sheet.open === undefined) return result;
    for (const [id, answer] of await seat.ask([sheet.open])) answers.set(id, answer);
  }
}
