import { isRecord } from "../../base/json.ts";
import { type GraphConfig, readText } from "./graph-config.ts";

/** What the checkpoint of a run says about the questions that were open when it was resumed. */
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

/**
 * Reads the open questions from the run's checkpointer. LangGraph hands a plain answer to every waiting task and tells
 * none of them so; only the checkpoint knows how many wait. Undefined when it cannot be read.
 */
export async function readPendingInterrupts(config: GraphConfig): Promise<PendingInterrupts | undefined> {
  const levels = readLevels(config);
  const last = levels.at(-1);
  if (last === undefined) return undefined;
  try {
    let isAlone = true;
    let own: PendingWrite | undefined;
    let answers = 0;
    for (const level of levels) {
      const writes = await readWrites(config, level);
      if (writes === undefined) return undefined;
      isAlone &&= !writes.some((write) => isOpenElsewhere(write, writes, level.tasks));
      if (level !== last) continue;
      const ofTask = writes.filter(([task]) => task === level.tasks.at(-1));
      own = ofTask.find(([, channel]) => channel === INTERRUPT);
      answers = ofTask.flatMap(([, channel, value]) => (channel === RESUME ? value : [])).length;
    }
    const first = readInterrupt(own);
    const interruptId = readText(first, "id");
    const resumed: unknown = config.configurable?.__pregel_resume_map;
    const isAddressed = interruptId !== undefined && isRecord(resumed) && Object.hasOwn(resumed, interruptId);
    const shown = isRecord(first) ? first.value : undefined;
    return { wasAsked: own !== undefined, answers, shown, interruptId, isAddressed, isAlone };
  } catch {
    return undefined;
  }
}

const INTERRUPT = "__interrupt__";
const RESUME = "__resume__";

/** What a task can have written and still wait: a return value, or the note that there is none, is its end. */
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
  const saver: unknown = configurable?.__pregel_checkpointer;
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
