import { z } from "zod";
import { checkMembers, checkTypes } from "../../../shared/base/check-settings.ts";
import { isRecord } from "../../../shared/base/json.ts";
import type { AgentMiddleware } from "./agent-middleware.ts";
import { findOfferedTool } from "./dynamic-tools.ts";
import { type GraphConfig, type RequestedCall, readBatch, readOpenCalls } from "./graph-config.ts";
import { type GraphTask, readRunnableConfig } from "./graph-task.ts";
import type { Question } from "./interrupt-answer.ts";
import type { GivenAnswer } from "./kept-answer.ts";
import { loadLangChain } from "./load-peer.ts";
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
 * @throws SvcError `unsupported` when `langchain` is not installed, `invalid_config` when the toolkit asks `approve`
 */
export async function createApprovalMiddleware(
  toolkit: SvcToolkit,
  options: ApprovalMiddlewareOptions = {},
): Promise<AgentMiddleware> {
  checkMembers(options, ["name"]);
  checkTypes(options, { name: "string" });
  toolkit.expectInterrupts();
  const { createMiddleware } = await loadLangChain("The approval middleware");
  const { name = NAME } = options;
  return createMiddleware({
    name,
    stateSchema: z.object({ [KEY]: z.record(z.string(), z.unknown()).optional() }),
    afterModel: async (state, runtime) => {
      // A middleware is handed only the members of the context that it declares, and `chooseApprover` may read any.
      const config: GraphConfig = { ...runtime, ...readRunnableConfig(), state };
      const calls = readOpenCalls(state.messages);
      const task = calls.length === 0 ? undefined : toolkit.findAskingTask(config);
      if (task === undefined) return undefined;
      const batch = readBatch(state.messages)?.messageIds.at(-1);
      const isSame = batch !== undefined && readState(state)[BATCH] === batch;
      const known = isSame ? readKept(state, task) : new Map<string, GivenAnswer>();
      const answers = await askForBatch(toolkit, { calls, config, task, known });
      return { [KEY]: { ...Object.fromEntries(answers), [BATCH]: batch ?? "" } };
    },
    wrapToolCall: async (request, handler) => {
      const { toolCall, runtime, state } = request;
      const tool = request.tool ?? toolkit.findTool(toolCall.name);
      const task = toolkit.findAskingTask({ ...runtime, state });
      // Another toolkit's tool, or one whose answers another middleware brings along already, is not asked about here.
      if (!(tool instanceof SvcTool && toolkit.hasGiven(tool)) || task === undefined) return handler(request);
      try {
        const answers = [...readKept(state, task)].map(([id, { value }]) => [id, value] as const);
        return await handler({ ...request, tool: tool.withAnswers(new Map(answers)) });
      } finally {
        task.throwIfStopped();
      }
    },
  });
}

function readState(state: object): Record<string, unknown> {
  const kept: unknown = Reflect.get(state, KEY);
  return isRecord(kept) ? kept : {};
}

/** The answers in an agent's state by question id, while they count. */
function readKept(state: object, task: GraphTask): Map<string, GivenAnswer> {
  const entries = Object.entries(readState(state)).flatMap(([id, kept]) => {
    if (!isRecord(kept) || typeof kept.expiresAt !== "string" || !task.isOpen(kept.expiresAt)) return [];
    return [[id, { value: kept.value, expiresAt: kept.expiresAt }] as const];
  });
  return new Map(entries);
}

interface OpenBatch {
  readonly calls: readonly RequestedCall[];
  readonly config: GraphConfig;
  readonly task: GraphTask;
  /** Answers that another middleware got for the same calls. */
  readonly known: ReadonlyMap<string, GivenAnswer>;
}

/** Rounds, because an answer can raise the next question: first the account, then the approval for it. */
async function askForBatch(toolkit: SvcToolkit, batch: OpenBatch): Promise<Map<string, GivenAnswer>> {
  const answers = new Map(batch.known);
  for (;;) {
    const asked = await Promise.all(batch.calls.map((call) => findQuestion(toolkit, call, batch.config, answers)));
    // A call that the model repeats under the same id is one call: its question is put once.
    const open = new Map(
      asked.flatMap((question) => (question === undefined ? [] : [[question.id, question] as const])),
    );
    const given = open.size === 0 ? undefined : await batch.task.ask([...open.values()]);
    if (given === undefined) return answers;
    for (const [id, answer] of given) answers.set(id, answer);
  }
}

/** The first question of a call that has no answer. */
async function findQuestion(
  toolkit: SvcToolkit,
  call: RequestedCall,
  config: GraphConfig,
  answers: ReadonlyMap<string, GivenAnswer>,
): Promise<Question | undefined> {
  const messages: unknown = isRecord(config.state) ? config.state.messages : undefined;
  const tool = toolkit.findTool(call.name) ?? (await findOfferedTool(toolkit, call.name, messages));
  // An agent has one svc_call_tool only; the one of another toolkit is not asked about here.
  if (tool === undefined || !toolkit.hasGiven(tool)) return undefined;
  let open: Question | undefined;
  await tool.preview(call, config, async (question) => {
    const answer = answers.get(question.id);
    if (answer === undefined) open = question;
    return answer?.value;
  });
  return open;
}
