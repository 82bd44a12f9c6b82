import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../base/json.ts";
import { isControlFlow } from "../../calls/ask/abort.ts";
import type { Approver } from "../../calls/ask/request.ts";
import type { CallJournal } from "../../calls/journal/journal.ts";
import type { ToolOutcome } from "../../calls/outcome.ts";
import type { ToolCall } from "../../calls/pipeline.ts";
import type { ToolSession } from "../../calls/session.ts";
import type { GraphConfig } from "./graph-config.ts";
import { createStoreJournal, createStoreMemory, isGraphStore } from "./graph-store.ts";
import { GraphTask, type TakenAnswers } from "./graph-task.ts";
import {
  type AnswerSheet,
  type ChannelSubject,
  createInterruptChannel,
  createSheetChannel,
  type HumanChannel,
} from "./human-channel.ts";
import type { ProgressFeed } from "./progress.ts";
import type { LangChainCall } from "./svc-tool.ts";
import type { SvcToolkitOptions } from "./toolkit-options.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;

/** A call for the pipeline, without its tool. */
type CallBase = Omit<ToolCall, "toolName" | "arguments" | "connectionId">;
type RunCall = (base: CallBase) => Promise<ToolOutcome>;
type Target = Pick<ToolCall, "toolName" | "arguments" | "connectionId">;
type Options = Pick<SvcToolkitOptions, "chooseApprover" | "askThrough" | "interruptTtlMs" | "now" | "stateDir">;

/** Receivers of news about calls. */
interface Told {
  readonly feed: ProgressFeed;
  readonly warnForgetful: (config: GraphConfig) => void;
}

interface CallUnderWay {
  readonly call: LangChainCall;
  readonly outcome: Promise<ToolOutcome>;
}

/** Turns LangChain's calls into calls of a session: finds approver, journal and account of each. */
export class CallTranslator {
  readonly #session: ToolSession;
  readonly #options: Options;
  readonly #told: Told;
  readonly #underWay = new WeakMap<GraphTask, Set<CallUnderWay>>();

  constructor(session: ToolSession, options: Options, told: Told) {
    this.#session = session;
    this.#options = options;
    this.#told = told;
  }

  /** The graph's task that the call belongs to, where the human is asked through the graph. */
  findAskingTask(config: GraphConfig): GraphTask | undefined {
    return this.#options.askThrough === "callback" ? undefined : this.#findTask(config);
  }

  #findTask(config: GraphConfig): GraphTask | undefined {
    return config.interrupt === undefined ? undefined : GraphTask.find(config, this.#options.now ?? Date.now);
  }

  /** Runs a call. A chosen approver goes first, then answers brought along, then the graph, then the session's own. */
  async run(call: LangChainCall, run: RunCall): Promise<ToolOutcome> {
    const approve = this.#chooseApprover(call.config);
    const runApproved: RunCall = (base) => run({ ...base, ...(approve === undefined ? {} : { approve }) });
    if (call.sheet !== undefined)
      return this.#runThrough(this.#createSheetChannel(call, call.sheet), call, runApproved);
    const task = this.findAskingTask(call.config);
    if (task === undefined) return this.#runThrough(undefined, call, runApproved);
    if (approve === undefined) return this.#runOnce(task, call, run);
    // A call that asks elsewhere takes its turn too: the next question of the task tells that it was sent.
    return task.run(call.toolCallId ?? call.callId, () => this.#runThrough(undefined, call, runApproved));
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
  async #runOnce(task: GraphTask, call: LangChainCall, run: RunCall): Promise<ToolOutcome> {
    const others = this.#underWay.get(task) ?? new Set();
    this.#underWay.set(task, others);
    const equal = [...others].find((other) => isSameCall(other.call, call));
    if (equal !== undefined) return equal.outcome;
    const started = { call, outcome: this.#runAsking(task, call, run) };
    others.add(started);
    try {
      return await started.outcome;
    } finally {
      others.delete(started);
    }
  }

  #runAsking(task: GraphTask, call: LangChainCall, run: RunCall): Promise<ToolOutcome> {
    const subject = this.#describe(call);
    const { journal = this.#session.journal } = this.#findKept(call.config);
    return task.run(
      call.toolCallId ?? call.callId,
      (turn) => this.#runThrough(createInterruptChannel(turn, subject), call, run),
      keepTaken(journal, subject),
    );
  }

  async #runThrough(channel: HumanChannel | undefined, call: LangChainCall, run: RunCall): Promise<ToolOutcome> {
    const stopListening = call.report === undefined ? undefined : this.#told.feed.listen(call.callId, call.report);
    try {
      const base = this.#createBase(call, channel);
      const task = this.#findTask(call.config);
      return await run(
        task === undefined ? base : { ...base, journal: this.#keepInTask(task, call.config, base.journal) },
      );
    } finally {
      stopListening?.();
    }
  }

  /** Notes the first question for a human on the call's sheet. Nothing is sent. */
  async preview(call: LangChainCall, target: Target | undefined): Promise<void> {
    if (target === undefined || this.#chooseApprover(call.config) !== undefined) return;
    const channel = call.sheet && this.#createSheetChannel(call, call.sheet);
    const open = await this.#session.preview({ ...this.#createBase(call, channel), ...target });
    // Only the sheet is of interest: a missing answer shows there.
    if (open?.kind === "approval") {
      const { signal = new AbortController().signal } = call.config;
      await channel?.approve(open.request, { signal }).catch(() => undefined);
    }
  }

  #createSheetChannel(call: LangChainCall, sheet: AnswerSheet): HumanChannel {
    return createSheetChannel(sheet, this.#describe(call));
  }

  #describe(call: LangChainCall): ChannelSubject {
    const { now = Date.now, interruptTtlMs = 7 * DAY_MS } = this.#options;
    return { callId: call.callId, now, ttlMs: interruptTtlMs };
  }

  /** Journal and chosen accounts in the caller's store, when the run has one. */
  #findKept({ store }: GraphConfig): Pick<CallBase, "journal" | "memory"> {
    const { principal, journal } = this.#session;
    if (store === undefined || !isGraphStore(store)) return {};
    return { journal: createStoreJournal(store, journal, principal), memory: createStoreMemory(store, principal) };
  }

  /** In a graph that can be resumed, the checkpoint also records the calls that its task has sent. */
  #keepInTask(task: GraphTask, config: GraphConfig, inStore: CallJournal | undefined): CallJournal {
    const remembers = this.#options.stateDir !== undefined || inStore !== undefined;
    const journal = task.keepIn(inStore ?? this.#session.journal, remembers);
    if (remembers) return journal;
    const refresh = async () => {
      this.#told.warnForgetful(config);
      await journal.refresh?.();
    };
    return { ...journal, refresh };
  }

  #createBase(call: LangChainCall, channel: HumanChannel | undefined): CallBase {
    return {
      callId: call.callId,
      signal: call.config.signal,
      connections: readConnections(call.config),
      ...this.#findKept(call.config),
      ...(channel === undefined ? {} : { ...channel, keepsAnswers: true, approvalTtlMs: this.#describe(call).ttlMs }),
    };
  }
}

function isSameCall(one: LangChainCall, other: LangChainCall): boolean {
  const read = ({ callId, toolName, arguments: given }: LangChainCall) => [callId, toolName, given];
  return isDeepStrictEqual(read(one), read(other));
}

/** Keeps in the journal how many answers a call took. */
function keepTaken(journal: CallJournal, { callId, now }: ChannelSubject): TakenAnswers {
  const toKey = (nth: number) => ({ callId, fingerprint: nth === 1 ? "answers taken" : `answers taken ${nth}` });
  return {
    async load(nth) {
      const record = await journal.find(toKey(nth));
      return typeof record?.outcome === "number" ? record.outcome : 0;
    },
    save: (nth, count) => journal.record({ ...toKey(nth), state: "done", at: now(), tool: "", outcome: count }),
  };
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
