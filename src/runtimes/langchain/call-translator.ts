import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../base/json.ts";
import { isControlFlow } from "../../calls/ask/abort.ts";
import type { Approver } from "../../calls/ask/request.ts";
import type { CallJournal } from "../../calls/journal/journal.ts";
import type { ToolOutcome } from "../../calls/outcome.ts";
import type { ToolCall } from "../../calls/pipeline.ts";
import type { ToolSession } from "../../calls/session.ts";
import type { GraphConfig } from "./graph-config.ts";
import { createStoreJournal, createStoreMemory, getGraphStore } from "./graph-store.ts";
import { type ChannelSubject, createInterruptChannel, createSheetChannel, type HumanChannel } from "./human-channel.ts";
import type { ProgressFeed } from "./progress.ts";
import { rememberTaken } from "./remember-taken.ts";
import type { LangChainCall } from "./svc-tool.ts";
import { type DeskSeat, TaskDesk } from "./task-desk.ts";
import type { SvcToolkitOptions } from "./toolkit-options.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;

/** What the pipeline is told about a call besides which tool is run. */
type CallBase = Omit<ToolCall, "toolName" | "arguments" | "connectionId">;
type RunCall = (base: CallBase) => Promise<ToolOutcome>;
type Target = Pick<ToolCall, "toolName" | "arguments" | "connectionId">;
type Options = Pick<SvcToolkitOptions, "chooseApprover" | "askThrough" | "interruptTtlMs" | "now" | "stateDir">;

interface CallUnderWay {
  readonly call: LangChainCall;
  readonly outcome: Promise<ToolOutcome>;
}

/** Turns LangChain's calls into calls of a session: who is asked, what is remembered where, which account is used. */
export class CallTranslator {
  readonly #session: ToolSession;
  readonly #options: Options;
  readonly #feed: ProgressFeed;
  readonly #warnForgetful: (config: GraphConfig) => void;
  readonly #underWay = new WeakMap<TaskDesk, Set<CallUnderWay>>();

  constructor(
    session: ToolSession,
    options: Options,
    told: { readonly feed: ProgressFeed; readonly warnForgetful: (config: GraphConfig) => void },
  ) {
    this.#session = session;
    this.#options = options;
    this.#feed = told.feed;
    this.#warnForgetful = told.warnForgetful;
  }

  /** The graph's own way to ask, in a run that has one and uses it. */
  openDesk(config: GraphConfig): TaskDesk | undefined {
    return this.#options.askThrough === "callback" ? undefined : TaskDesk.find(config, this.#options.now ?? Date.now);
  }

  /** Runs a call. A chosen approver goes first, then answers brought along, then the graph, then the session's own. */
  async run(call: LangChainCall, run: RunCall): Promise<ToolOutcome> {
    const approve = this.#chooseApprover(call.config);
    const isOwn = approve === undefined && call.sheet === undefined;
    const desk = this.openDesk(call.config);
    if (desk !== undefined && isOwn) return this.#runOnce(desk, call, run);
    const runApproved: RunCall = (base) => run({ ...base, ...(approve === undefined ? {} : { approve }) });
    // Nobody asks through the graph while a call that asks elsewhere is under way: what it sends belongs to the question.
    const seat = call.sheet === undefined ? desk?.enter(call.toolCallId ?? call.callId) : undefined;
    try {
      return await this.#runThrough(this.#findChannel(call), call, runApproved, desk);
    } finally {
      await seat?.leave();
    }
  }

  /** A choice that fails leaves nobody to approve: what needs no approval runs, and nothing else. */
  #chooseApprover(config: LangChainCall["config"]): Approver | undefined {
    try {
      return this.#options.chooseApprover?.(config) ?? undefined;
    } catch (error) {
      if (isControlFlow(error)) throw error;
      return () => Promise.reject(error);
    }
  }

  /**
   * A model that repeats a call under one id, in one task, means one call: it is asked about once, and everybody waits
   * for that. At the desk the second would be waited for by the first, which it waits for itself. One that is written
   * otherwise may still be the same to whoever runs it, so it begins when the first has ended.
   */
  async #runOnce(desk: TaskDesk, call: LangChainCall, run: RunCall): Promise<ToolOutcome> {
    const others = this.#underWay.get(desk) ?? new Set();
    this.#underWay.set(desk, others);
    const earlier = [...others].filter((other) => other.call.callId === call.callId);
    const equal = earlier.find((other) => isSameCall(other.call, call));
    if (equal !== undefined) return equal.outcome;
    const started = { call, outcome: this.#runAt(desk, call, run, earlier.at(-1)?.outcome) };
    others.add(started);
    try {
      return await started.outcome;
    } finally {
      others.delete(started);
    }
  }

  async #runAt(
    desk: TaskDesk,
    call: LangChainCall,
    run: RunCall,
    earlier: Promise<ToolOutcome> | undefined,
  ): Promise<ToolOutcome> {
    const subject = this.#describe(call);
    const seat = this.#takeSeat(desk, call, subject);
    try {
      if (earlier !== undefined) await seat.waitFor(earlier, call.signal);
      return await this.#runThrough(createInterruptChannel(seat, subject), call, run, desk);
    } finally {
      await seat.leave();
    }
  }

  async #runThrough(
    channel: HumanChannel | undefined,
    call: LangChainCall,
    run: RunCall,
    desk: TaskDesk | undefined,
  ): Promise<ToolOutcome> {
    const stopListening = call.report === undefined ? undefined : this.#feed.listen(call.callId, call.report);
    try {
      const base = this.#createBase(call, channel);
      return await run({ ...base, ...this.#keepInTask(call.config, base.journal, desk) });
    } finally {
      stopListening?.();
    }
  }

  /** Notes on the call's sheet what a human would be asked first. Nothing is sent. */
  async preview(call: LangChainCall, target: Target | undefined): Promise<void> {
    if (target === undefined || this.#chooseApprover(call.config) !== undefined) return;
    const channel = this.#findChannel(call);
    const open = await this.#session.preview({ ...this.#createBase(call, channel), ...target });
    // The sheet is what is asked for: a missing answer shows there.
    if (open?.kind === "approval") {
      const { signal = new AbortController().signal } = call;
      await channel?.approve(open.request, { signal }).catch(() => undefined);
    }
  }

  #takeSeat(desk: TaskDesk, { callId, toolCallId, config }: LangChainCall, { now }: ChannelSubject): DeskSeat {
    const { journal = this.#session.journal } = this.#findKept(config);
    return rememberTaken(desk.enter(toolCallId ?? callId), { callId, journal, now });
  }

  #describe(call: LangChainCall): ChannelSubject {
    const { now = Date.now, interruptTtlMs = 7 * DAY_MS } = this.#options;
    return { callId: call.callId, now, ttlMs: interruptTtlMs };
  }

  #findChannel(call: LangChainCall): HumanChannel | undefined {
    return call.sheet && createSheetChannel(call.sheet, this.#describe(call));
  }

  /** What a run keeps in the caller's store, when it has one. */
  #findKept(config: GraphConfig): Pick<CallBase, "journal" | "memory"> {
    const store = getGraphStore(config);
    const { principal, journal } = this.#session;
    if (store === undefined) return {};
    return { journal: createStoreJournal(store, journal, principal), memory: createStoreMemory(store, principal) };
  }

  /** Where the graph can be resumed, its checkpoint remembers too what its task has sent. */
  #keepInTask(
    config: GraphConfig,
    kept: CallJournal | undefined,
    desk: TaskDesk | undefined,
  ): Pick<CallBase, "journal"> {
    const task = desk ?? TaskDesk.find(config, this.#options.now ?? Date.now);
    if (task === undefined) return {};
    const remembers = this.#options.stateDir !== undefined || getGraphStore(config) !== undefined;
    const journal = task.keepIn(kept ?? this.#session.journal, remembers);
    if (remembers) return { journal };
    const refresh = async () => {
      this.#warnForgetful(config);
      await journal.refresh?.();
    };
    return { journal: { ...journal, refresh } };
  }

  #createBase(call: LangChainCall, channel: HumanChannel | undefined): CallBase {
    return {
      callId: call.callId,
      signal: call.signal,
      connections: readConnections(call.config),
      ...this.#findKept(call.config),
      ...(channel === undefined ? {} : { ...channel, keepsAnswers: true, approvalTtlMs: this.#describe(call).ttlMs }),
    };
  }
}

function isSameCall(one: LangChainCall, other: LangChainCall): boolean {
  return one.toolName === other.toolName && isDeepStrictEqual(one.arguments, other.arguments);
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
