import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../../shared/base/json.ts";
import { SvcError } from "../../../shared/errors.ts";
import { isControlFlow } from "../../calls/ask/abort.ts";
import type { Approver } from "../../calls/ask/request.ts";
import type { CallTurn } from "../../calls/call-queue.ts";
import { STEP } from "../../calls/journal/journal-record.ts";
import type { ToolOutcome } from "../../calls/outcome.ts";
import type { ToolCall } from "../../calls/pipeline.ts";
import type { ToolSession } from "../../calls/session.ts";
import type { SessionEvent } from "../../calls/session-events.ts";
import { digest, type GraphConfig } from "./graph-config.ts";
import type { StepMemory } from "./graph-steps.ts";
import { createStoreJournal, createStoreMemory, isGraphStore } from "./graph-store.ts";
import { GraphTask } from "./graph-task.ts";
import { type AskQuestion, type ChannelSubject, createHumanChannel, isPermission } from "./human-channel.ts";
import type { ProgressFeed } from "./progress.ts";
import type { LangChainCall } from "./svc-tool.ts";
import type { SvcToolkitOptions } from "./toolkit-options.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
const NOT_REMEMBERED =
  "This graph keeps its conversations, but what its tools send is remembered by this process and the open step of the graph only. After a crash, or when two processes resume one thread at once, an approved call can be sent twice. Give SvcToolkit.create a stateDir, or the graph a store.";

/** A call for the pipeline, without its tool. */
type CallBase = Omit<ToolCall, "toolName" | "arguments" | "connectionId">;
/** Makes a call that was prepared. */
export type RunCall = (base: CallBase) => Promise<ToolOutcome>;
/** The tool of the service that a call is for. */
type CallTarget = Pick<ToolCall, "toolName" | "arguments" | "connectionId">;

/** Receivers of news about calls. */
interface Told {
  readonly feed: ProgressFeed;
  readonly warnForgetful: () => void;
}

interface CallUnderWay {
  readonly call: LangChainCall;
  readonly outcome: Promise<ToolOutcome>;
}

/** Turns LangChain's calls into calls of a session: finds approver, journal and account of each. */
export class CallTranslator {
  readonly #session: ToolSession;
  readonly #options: SvcToolkitOptions;
  readonly #told: Told;
  readonly #underWay = new WeakMap<GraphTask, Set<CallUnderWay>>();

  constructor(session: ToolSession, options: SvcToolkitOptions, told: Told) {
    this.#session = session;
    this.#options = options;
    this.#told = told;
  }

  /** The graph's task that the call belongs to, where the human is asked through the graph. */
  findAskingTask(config: GraphConfig): GraphTask | undefined {
    return this.#asksGraph ? this.#findTask(config) : undefined;
  }

  /** What the host says counts, whatever checkpointer a graph happens to have. */
  get #asksGraph(): boolean {
    const { askThrough, approve } = this.#options;
    return askThrough === "interrupt" || (askThrough === undefined && approve === undefined);
  }

  /**
   * For a middleware that asks through the graph.
   *
   * @throws SvcError `invalid_config` when `approve` is asked instead, and the host did not say so
   */
  expectInterrupts(): void {
    if (this.#asksGraph || this.#options.askThrough !== undefined) return;
    const text = "This toolkit asks its own approve, so that the approval middleware would never ask.";
    const hint = 'Leave approve out, or give SvcToolkit.create askThrough: "interrupt".';
    throw new SvcError("invalid_config", text, { field: "approve", hint, sent: false });
  }

  #findTask(config: GraphConfig): GraphTask | undefined {
    if (config.interrupt === undefined) return undefined;
    const { now = Date.now } = this.#options;
    const { journal = this.#session.journal } = this.#findKept(config);
    const toKey = (name: string) => ({ callId: name, fingerprint: STEP });
    const memory: StepMemory = {
      find: async (name) => (await journal.find(toKey(name)))?.outcome,
      keep: (name, outcome) => journal.record({ ...toKey(name), state: "done", at: now(), tool: "", outcome }),
    };
    return GraphTask.find(config, memory, now);
  }

  /**
   * Runs a call. A chosen approver goes first, then answers given beforehand, then the session's own or the graph.
   * `isRead` if the call changes nothing: it may be made again when the graph repeats its node.
   */
  async run(call: LangChainCall, run: RunCall, isRead: boolean): Promise<ToolOutcome> {
    const { config, callId, toolCallId } = call;
    const approve = this.#chooseApprover(config);
    const channel = approve === undefined ? this.#createChannel(call) : { approve };
    const make = (turn?: CallTurn) =>
      this.#runReported(call, () => run({ ...this.#createBase(call), ...channel, turn }));
    const task = this.#findTask(config);
    if (task === undefined) return make();
    if (!isRead && this.#options.stateDir === undefined && !isGraphStore(config.store)) this.#told.warnForgetful();
    const key = digest([callId, call.toolName, call.arguments]);
    // Its place is that of the call, however long the graph looks for what is kept of it.
    const runWrite = () => {
      const turn = this.#session.takeTurn();
      return task.keep(key, () => make(turn)).finally(() => turn.leave());
    };
    const runInTurn = () => task.run(toolCallId, isRead ? make : runWrite);
    return this.#share(task, call, runInTurn);
  }

  /** If the choice fails there is no approver: only calls that need no approval run. */
  #chooseApprover(config: LangChainCall["config"]): Approver | undefined {
    try {
      return this.#options.chooseApprover?.(config) ?? undefined;
    } catch (error) {
      if (isControlFlow(error)) throw error;
      return () => Promise.reject(error);
    }
  }

  /** A model that repeats a call under one id, in one task, means one call: it is asked about once. */
  async #share(task: GraphTask, call: LangChainCall, run: () => Promise<ToolOutcome>): Promise<ToolOutcome> {
    const others = this.#underWay.get(task) ?? new Set();
    this.#underWay.set(task, others);
    const equal = [...others].find((other) => isSameCall(other.call, call));
    if (equal !== undefined) return equal.outcome;
    const started = { call, outcome: run() };
    others.add(started);
    try {
      return await started.outcome;
    } finally {
      others.delete(started);
    }
  }

  async #runReported(call: LangChainCall, run: () => Promise<ToolOutcome>): Promise<ToolOutcome> {
    const stopListening = call.report === undefined ? undefined : this.#told.feed.listen(call.callId, call.report);
    try {
      return await run();
    } finally {
      stopListening?.();
    }
  }

  /** Asks `ask` what the call has to be asked first. Nothing is sent. */
  async preview(call: LangChainCall, target: CallTarget, ask: AskQuestion): Promise<void> {
    if (this.#chooseApprover(call.config) !== undefined) return;
    const channel = { ...createHumanChannel(ask, this.#describe(call)), ...this.#keepAnswers() };
    const open = await this.#session.preview({ ...this.#createBase(call), ...channel, ...target });
    if (open?.kind !== "approval") return;
    const { request, ...permission } = open;
    const { signal = new AbortController().signal } = call.config;
    // The question is of interest, and not that nobody has answered it.
    await channel.approve(request, { signal, ...permission }).catch(() => undefined);
  }

  #createChannel(call: LangChainCall): Partial<CallBase> {
    const task = this.findAskingTask(call.config);
    if (task === undefined) return {};
    const ask: AskQuestion = async (question) => {
      const kept = call.answers?.get(question.id);
      const counts = kept !== undefined && (question.isGranted === true || !isPermission(kept));
      return counts ? kept : (await task.ask([question]))?.get(question.id)?.value;
    };
    const { approve, chooseConnection } = this.#options;
    const own = { chooseConnection, approve: approve === "owner" ? undefined : approve };
    return { ...createHumanChannel(ask, this.#describe(call), own), ...this.#keepAnswers() };
  }

  #describe({ callId }: LangChainCall): ChannelSubject {
    return { callId, now: this.#options.now ?? Date.now, ttlMs: this.#ttlMs };
  }

  #keepAnswers() {
    return { keepsAnswers: true, approvalTtlMs: this.#ttlMs };
  }

  get #ttlMs(): number {
    return this.#options.interruptTtlMs ?? 7 * DAY_MS;
  }

  #createBase({ callId, config }: LangChainCall): CallBase {
    return { callId, signal: config.signal, connections: readConnections(config), ...this.#findKept(config) };
  }

  /** Journal and chosen accounts in the caller's store, when the run has one. */
  #findKept({ store }: GraphConfig): Pick<CallBase, "journal" | "memory"> {
    const { principal, journal } = this.#session;
    if (store === undefined || !isGraphStore(store)) return {};
    return { journal: createStoreJournal(store, journal, principal), memory: createStoreMemory(store, principal) };
  }
}

let isWarned = false;

/**
 * Says once that a graph may outlive the journal of its calls: there is neither a state folder nor a store. Without
 * `tell` the process is warned, once, however many toolkits it makes.
 */
export function createMemoryWarning(tell: ((event: SessionEvent) => void) | undefined): () => void {
  let isTold = false;
  return () => {
    if (isTold) return;
    isTold = true;
    if (tell !== undefined) tell({ type: "writes_not_remembered" });
    else if (!isWarned) process.emitWarning(NOT_REMEMBERED, { type: "SvcWarning", code: "SVC_WRITES_NOT_REMEMBERED" });
    isWarned ||= tell === undefined;
  };
}

function isSameCall(one: LangChainCall, other: LangChainCall): boolean {
  const read = ({ callId, toolName, arguments: given }: LangChainCall) => [callId, toolName, given];
  return isDeepStrictEqual(read(one), read(other));
}

/**
 * Hosts choose accounts through `svcConnections` in `configurable` or `context`: an object from integration slug to
 * connection id.
 */
function readConnections({ configurable, context }: GraphConfig): Record<string, string> {
  const fromContext: unknown = isRecord(context) ? context.svcConnections : undefined;
  return { ...readIds(fromContext), ...readIds(configurable?.svcConnections) };
}

function readIds(value: unknown): Record<string, string> {
  if (!isRecord(value)) return {};
  const entries = Object.entries(value).flatMap(([integration, id]) =>
    typeof id === "string" || typeof id === "number" ? [[integration, String(id)] as const] : [],
  );
  return Object.fromEntries(entries);
}
