import { isRecord } from "../../base/json.ts";
import { type GraphConfig, readText, readThread } from "./graph-config.ts";

/**
 * The state that LangGraph keeps of the running task. Two of its private members are read, here and nowhere else,
 * because no public interface holds the same. Where one is missing, nobody is asked through the graph.
 *
 * - The checkpointer: a plain answer reaches every waiting task, so how many wait decides whether it counts; and another
 *   process learns only from the question that was shown which calls have been sent before it.
 * - The scratchpad: `interrupt` hands out stored answers by counting, the host's own among them, and asks the human when
 *   there is none. Only the count tells whether a call comes before or after the point where the task had stopped.
 */
const CHECKPOINTER = "__pregel_checkpointer";
const SCRATCHPAD = "__pregel_scratchpad";

/** The function that puts a value before a human: throws on the first run, returns the answer on the next. */
export type InterruptFunction = (value: unknown) => unknown;

/** The graph's own way to ask; undefined where an answer could never come back (no checkpointer, no thread). */
export function getInterrupt(config: GraphConfig): InterruptFunction | undefined {
  const { interrupt, configurable } = config;
  if (typeof interrupt !== "function" || !isRecord(configurable?.[CHECKPOINTER])) return undefined;
  if (readThread(config) === undefined || findTaskRun(config) === undefined) return undefined;
  return (value) => Reflect.apply(interrupt, undefined, [value]);
}

/** True when the checkpoints are gone with this process, as those of LangGraph's `MemorySaver` are. */
export function isKeptInProcess({ configurable }: GraphConfig): boolean {
  const saver: unknown = configurable?.[CHECKPOINTER];
  return typeof saver === "object" && ["MemorySaver", "InMemorySaver"].includes(saver?.constructor?.name ?? "");
}

/** One run of a task: the same object for all its calls. */
interface TaskRun {
  /** Answers that the graph holds for it. */
  readonly resume: readonly unknown[];
  /** Index of the interrupt it has come by last; -1 before the first one. */
  readonly interruptCounter: number;
}

/** The run of a task that a call belongs to. */
export function findTaskRun({ configurable }: GraphConfig): TaskRun | undefined {
  const run: unknown = configurable?.[SCRATCHPAD];
  return isTaskRun(run) ? run : undefined;
}

function isTaskRun(value: unknown): value is TaskRun {
  return isRecord(value) && Array.isArray(value.resume) && typeof value.interruptCounter === "number";
}

/** How many interrupts this run of the task has come by, and how many answers the graph holds for it. */
export function countAnswers(config: GraphConfig): { readonly passed: number; readonly stored: number } {
  const { resume = [], interruptCounter = -1 } = findTaskRun(config) ?? {};
  return { passed: interruptCounter + 1, stored: resume.length };
}

/** Whether the graph holds an answer that this run of the task has not taken yet. */
export function hasStoredAnswer(config: GraphConfig): boolean {
  const { passed, stored } = countAnswers(config);
  return stored > passed;
}

/** The questions that were open when the run was resumed, as its checkpoint has them. */
export interface PendingInterrupts {
  /** Whether this task has stopped with a question before. */
  readonly wasAsked: boolean;
  /** How many answers it had been given then. */
  readonly answers: number;
  /** Value this task showed last. */
  readonly shown: unknown;
  /** LangGraph's id of that question. */
  readonly interruptId: string | undefined;
  /** True when the answer of this run was sent to this very question. */
  readonly isAddressed: boolean;
  /** True when no other question of the run is open, in this graph and in those around it. */
  readonly isAlone: boolean;
}

interface Level {
  readonly namespace: string;
  readonly checkpointId: string;
  /**
   * The tasks of this level on whose behalf the call runs, its own last: a task of the functional API is kept in the
   * same checkpoint as the one that called it.
   */
  readonly tasks: string[];
}

type PendingWrite = readonly [task: string, channel: string, value: unknown];

/** Reads the open questions from the run's checkpointer; undefined when it cannot be read. */
export async function readPendingInterrupts(config: GraphConfig): Promise<PendingInterrupts | undefined> {
  const levels = readLevels(config);
  const last = levels.at(-1);
  if (last === undefined) return undefined;
  try {
    let isAlone = true;
    let ofTask: PendingWrite[] = [];
    for (const level of levels) {
      const writes = await readWrites(config, level);
      if (writes === undefined) return undefined;
      isAlone &&= !writes.some((write) => isOpenElsewhere(write, writes, level.tasks));
      if (level === last) ofTask = writes.filter(([task]) => task === level.tasks.at(-1));
    }
    const own = ofTask.find(([, channel]) => channel === INTERRUPT);
    const answers = ofTask.flatMap(([, channel, value]) => (channel === RESUME ? value : [])).length;
    const first = readInterrupt(own);
    return {
      wasAsked: own !== undefined,
      answers,
      shown: isRecord(first) ? first.value : undefined,
      interruptId: readText(first, "id"),
      // LangGraph stores an answer with an address before the run; a plain one is handed out when somebody asks.
      isAddressed: countAnswers(config).stored > answers,
      isAlone,
    };
  } catch {
    return undefined;
  }
}

const INTERRUPT = "__interrupt__";
const RESUME = "__resume__";

/** A task that has written only these still waits: it ends with a return value or a marker for no value. */
const UNFINISHED = new Set([INTERRUPT, RESUME, "__error__", "__error_source_node__"]);

/** Another task asked something and has not come to an end since. */
function isOpenElsewhere(write: PendingWrite, writes: readonly PendingWrite[], tasks: readonly string[]): boolean {
  const [task, channel] = write;
  if (channel !== INTERRUPT || task === tasks.at(-1)) return false;
  // A task whose own task asked something stops with the same question.
  if (tasks.includes(task) && isAskedByAnother(write, writes)) return false;
  return writes.every(([other, written]) => other !== task || UNFINISHED.has(written));
}

function isAskedByAnother(write: PendingWrite, writes: readonly PendingWrite[]): boolean {
  const id = readText(readInterrupt(write), "id");
  const isSame = (other: PendingWrite) => other[1] === INTERRUPT && readText(readInterrupt(other), "id") === id;
  return id !== undefined && writes.some((other) => other[0] !== write[0] && isSame(other));
}

function readInterrupt(write: PendingWrite | undefined): unknown {
  const value = write?.[2];
  return Array.isArray(value) ? value[0] : value;
}

/** The graph and, for an agent inside an agent, the graphs around it: `outer:<task>|inner:<task>`. */
function readLevels(config: GraphConfig): Level[] {
  const { configurable } = config;
  const path = readText(configurable, "checkpoint_ns")?.split("|") ?? [];
  const checkpoints: unknown = configurable?.checkpoint_map;
  const levels: Level[] = [];
  let namespace = "";
  for (const segment of path) {
    const checkpointId = readText(checkpoints, namespace);
    const task = segment.slice(segment.lastIndexOf(":") + 1);
    const outer = levels.at(-1);
    if (outer !== undefined && outer.checkpointId === checkpointId) outer.tasks.push(task);
    else if (checkpointId !== undefined) levels.push({ namespace, checkpointId, tasks: [task] });
    namespace = namespace === "" ? segment : `${namespace}|${segment}`;
  }
  return levels;
}

async function readWrites(config: GraphConfig, level: Level): Promise<PendingWrite[] | undefined> {
  const { configurable } = config;
  const saver: unknown = configurable?.[CHECKPOINTER];
  if (!isRecord(saver) || typeof saver.getTuple !== "function") return undefined;
  const where = {
    thread_id: configurable?.thread_id,
    checkpoint_ns: level.namespace,
    checkpoint_id: level.checkpointId,
  };
  const tuple: unknown = await saver.getTuple({ configurable: where });
  if (!isRecord(tuple) || !Array.isArray(tuple.pendingWrites)) return undefined;
  return tuple.pendingWrites.filter(isPendingWrite);
}

function isPendingWrite(value: unknown): value is PendingWrite {
  return Array.isArray(value) && typeof value[0] === "string" && typeof value[1] === "string";
}
