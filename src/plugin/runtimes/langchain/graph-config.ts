import { randomUUID } from "node:crypto";
import { sha256Hex } from "../../../shared/base/hash.ts";
import { isRecord } from "../../../shared/base/json.ts";

/**
 * The configuration that a LangGraph run hands to its nodes and tools, as far as it is used here. Everything is optional:
 * the same tools run outside graphs too.
 */
export interface GraphConfig {
  readonly configurable?: Record<string, unknown> | undefined;
  readonly context?: unknown;
  readonly interrupt?: unknown;
  readonly store?: unknown;
  readonly writer?: unknown;
  readonly signal?: AbortSignal | undefined;
  readonly executionInfo?: unknown;
  /** The same object for all nodes of a run. */
  readonly control?: unknown;
  readonly state?: unknown;
}

/** Id of the conversation, when its state is kept. */
export function readThread(config: GraphConfig): string | undefined {
  return readText(config.executionInfo, "threadId") ?? readText(config.configurable, "thread_id");
}

/** Name and arguments of a tool call. */
interface CallContent {
  readonly name: string;
  readonly args: unknown;
}

/** One call a model asks for. */
export interface RequestedCall extends CallContent {
  readonly id: string;
}

/** The last batch of calls a model asked for, with the ids of all messages up to it. */
export interface CallBatch {
  readonly calls: readonly RequestedCall[];
  readonly messageIds: readonly (string | undefined)[];
}

/** Reads the batch that holds `callId`, or simply the last one, from a graph's messages. */
export function readBatch(messages: unknown, callId?: string): CallBatch | undefined {
  if (!Array.isArray(messages)) return undefined;
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const calls = readCalls(messages[index]);
    if (calls.length === 0 || (callId !== undefined && !calls.some((call) => call.id === callId))) continue;
    return { calls, messageIds: messages.slice(0, index + 1).map((message) => readText(message, "id")) };
  }
  return undefined;
}

/** Calls of the last batch that have no answer yet. */
export function readOpenCalls(messages: readonly unknown[]): RequestedCall[] {
  const answered = new Set(messages.map((message) => readText(message, "tool_call_id")));
  return (readBatch(messages)?.calls ?? []).filter((call) => !answered.has(call.id));
}

function readCalls(message: unknown): RequestedCall[] {
  const list: unknown = isRecord(message) ? message.tool_calls : undefined;
  if (!Array.isArray(list)) return [];
  return list.flatMap((call: unknown) => {
    const id = readText(call, "id");
    const name = readText(call, "name");
    return id === undefined || name === undefined ? [] : [{ id, name, args: isRecord(call) ? call.args : undefined }];
  });
}

/**
 * The id under which a graph makes the same call again after a crash, an interrupt or a step back in time: thread, the
 * messages up to the message with the call, and the tool call. Models repeat their own call ids, so these alone
 * are not enough; without messages the task takes their place, and a call that a node makes without an id is known by
 * what it does and how often that task did the same before. Without a thread nothing can come back, so each call gets
 * a fresh id.
 */
export function identifyCall(config: GraphConfig, callId: string | undefined, call: CallContent): string {
  const thread = readThread(config);
  const taskId = readText(config.executionInfo, "taskId") ?? "";
  const own = callId ?? nameRepeatedCall(config, call);
  if (thread === undefined || own === undefined) return randomUUID();
  const messages: unknown = isRecord(config.state) ? config.state.messages : config.state;
  const ids = callId === undefined ? undefined : readBatch(messages, callId)?.messageIds;
  if (ids?.at(-1) === undefined) return JSON.stringify([thread, readCheckpoint(config), taskId, own]);
  return JSON.stringify([thread, digest(ids), own]);
}

/** How often the run of a task has made the same call. */
const repeats = new WeakMap<object, Map<string, number>>();

function nameRepeatedCall({ executionInfo: run }: GraphConfig, { name, args }: CallContent): string | undefined {
  if (!isRecord(run)) return undefined;
  const counts = repeats.get(run) ?? new Map<string, number>();
  const content = digest([name, args]);
  const before = counts.get(content) ?? 0;
  repeats.set(run, counts.set(content, before + 1));
  return `${content}:${before}`;
}

/** A short name of any JSON value. */
export function digest(value: unknown): string {
  return sha256Hex(JSON.stringify(value) ?? "").slice(0, 32);
}

/** Id of the checkpoint that the node runs from. */
export function readCheckpoint(config: GraphConfig): string {
  return readText(config.executionInfo, "checkpointId") ?? readText(config.configurable, "checkpoint_id") ?? "";
}

/** A member that is a text with something in it. */
export function readText(holder: unknown, key: string): string | undefined {
  if (typeof holder !== "object" || holder === null) return undefined;
  const value: unknown = Reflect.get(holder, key);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** LangChain's own mark for errors that another try cannot help; its retry middleware looks for it. */
const RETRYABLE = Symbol.for("langchain.errors.retryable");

/** Marks an error that must be thrown, an abort or a graph's control flow, so that no middleware tries again. */
export function markNotRetryable<T>(error: T): T {
  if (typeof error === "object" && error !== null && Object.isExtensible(error)) {
    Object.defineProperty(error, RETRYABLE, { value: false, configurable: true });
  }
  return error;
}
