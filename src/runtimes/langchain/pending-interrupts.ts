import type { GraphConfig } from "./graph-config.ts";
import { isRecord, readText } from "./read-value.ts";

/** What the checkpoint of a run says about the questions that were open when it was resumed. */
export interface PendingInterrupts {
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
  /** Task of this level on whose behalf the call runs. */
  readonly task: string;
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
    for (const level of levels) {
      const writes = await readWrites(config, level);
      if (writes === undefined) return undefined;
      isAlone &&= !writes.some((write) => isOpenElsewhere(write, writes, level.task));
      if (level === last) own = writes.find(([task, channel]) => task === level.task && channel === INTERRUPT);
    }
    const first: unknown = Array.isArray(own?.[2]) ? own[2][0] : own?.[2];
    const interruptId = readText(first, "id");
    const resumed: unknown = config.configurable?.__pregel_resume_map;
    const isAddressed = interruptId !== undefined && isRecord(resumed) && Object.hasOwn(resumed, interruptId);
    return { shown: isRecord(first) ? first.value : undefined, interruptId, isAddressed, isAlone };
  } catch {
    return undefined;
  }
}

const INTERRUPT = "__interrupt__";

/** Another task asked something and has not come to an end since. */
function isOpenElsewhere([task, channel]: PendingWrite, writes: readonly PendingWrite[], ownTask: string): boolean {
  if (channel !== INTERRUPT || task === ownTask) return false;
  return !writes.some(([other, written]) => other === task && !written.startsWith("__"));
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
    if (checkpointId !== undefined) levels.push({ namespace, checkpointId, task });
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
