import type { ToolOutcome } from "../../tools/outcome.ts";
import type { ToolCall } from "../../tools/pipeline.ts";
import type { ToolSession } from "../../tools/session.ts";
import { type ChannelSubject, createInterruptChannel, createSheetChannel, type HumanChannel } from "./approval-gate.ts";
import type { GraphConfig } from "./graph-config.ts";
import { createStoreJournal, createStoreMemory, getGraphStore } from "./graph-store.ts";
import type { ProgressFeed } from "./progress.ts";
import { isRecord } from "./read-value.ts";
import { rememberTaken } from "./remember-taken.ts";
import type { LangChainCall } from "./svc-tool.ts";
import { type DeskSeat, TaskDesk } from "./task-desk.ts";
import type { SvcToolkitOptions } from "./toolkit-options.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;

/** What the pipeline is told about a call besides which tool is run. */
type CallBase = Omit<ToolCall, "toolName" | "arguments" | "connectionId">;
type Target = Pick<ToolCall, "toolName" | "arguments" | "connectionId">;
type Options = Pick<SvcToolkitOptions, "chooseApprover" | "askThrough" | "interruptTtlMs" | "now">;

/** Turns LangChain's calls into calls of a session: who is asked, what is remembered where, which account is used. */
export class CallTranslator {
  readonly #session: ToolSession;
  readonly #options: Options;
  readonly #feed: ProgressFeed;

  constructor(session: ToolSession, options: Options, feed: ProgressFeed) {
    this.#session = session;
    this.#options = options;
    this.#feed = feed;
  }

  /** The graph's own way to ask, in a run that has one and uses it. */
  openDesk(config: GraphConfig): TaskDesk | undefined {
    return this.#options.askThrough === "callback" ? undefined : TaskDesk.find(config, this.#options.now ?? Date.now);
  }

  /** Runs a call. A chosen approver goes first, then answers brought along, then the graph, then the session's own. */
  async run(call: LangChainCall, run: (base: CallBase) => Promise<ToolOutcome>): Promise<ToolOutcome> {
    const approve = this.#options.chooseApprover?.(call.config);
    const isOwn = approve === undefined && call.sheet === undefined;
    const subject = this.#describe(call);
    const seat = isOwn ? this.#takeSeat(call, subject) : undefined;
    const channel = seat === undefined ? this.#findChannel(call, subject) : createInterruptChannel(seat, subject);
    const stopListening = call.report === undefined ? undefined : this.#feed.listen(call.callId, call.report);
    try {
      return await run({ ...this.#createBase(call, channel), ...(approve === undefined ? {} : { approve }) });
    } finally {
      stopListening?.();
      await seat?.leave();
    }
  }

  /** Notes on the call's sheet what a human would be asked first. Nothing is sent. */
  async preview(call: LangChainCall, target: Target | undefined): Promise<void> {
    if (target === undefined || this.#options.chooseApprover?.(call.config) !== undefined) return;
    const channel = this.#findChannel(call, this.#describe(call));
    const open = await this.#session.preview({ ...this.#createBase(call, channel), ...target });
    // The sheet is what is asked for: a missing answer shows there.
    if (open?.kind === "approval") {
      const { signal = new AbortController().signal } = call;
      await channel?.approve(open.request, { signal }).catch(() => undefined);
    }
  }

  #takeSeat(call: LangChainCall, { now }: ChannelSubject): DeskSeat | undefined {
    const { callId, toolCallId, config } = call;
    const seat = this.openDesk(config)?.enter(toolCallId ?? callId);
    const { journal = this.#session.journal } = this.#findKept(config);
    return seat === undefined ? undefined : rememberTaken(seat, { callId, journal, now });
  }

  #describe(call: LangChainCall): ChannelSubject {
    const { now = Date.now, interruptTtlMs = 7 * DAY_MS } = this.#options;
    return { callId: call.callId, now, ttlMs: interruptTtlMs };
  }

  #findChannel({ sheet }: LangChainCall, subject: ChannelSubject): HumanChannel | undefined {
    return sheet === undefined ? undefined : createSheetChannel(sheet, subject);
  }

  /** What a run keeps in the caller's store, when it has one. */
  #findKept(config: GraphConfig): Pick<CallBase, "journal" | "memory"> {
    const store = getGraphStore(config);
    const { principal, journal } = this.#session;
    if (store === undefined) return {};
    return { journal: createStoreJournal(store, journal, principal), memory: createStoreMemory(store, principal) };
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
