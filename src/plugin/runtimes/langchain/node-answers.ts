import { isRecord } from "../../../shared/base/json.ts";
import { digest, readText } from "./graph-config.ts";

/** What LangGraph hands out to a running node, as far as it can be read. */
interface Scratchpad {
  readonly resume: readonly unknown[];
  readonly interruptCounter: number;
  readonly nullResume?: unknown;
}

/** Task, channel and value. */
type PendingWrite = [string, string, unknown];

/** LangGraph's channels of questions and of answers. */
const INTERRUPT = "__interrupt__";
const RESUME = "__resume__";

/** The task that LangGraph keeps a plain answer under. */
const NO_TASK = "00000000-0000-0000-0000-000000000000";

/**
 * The answers that LangGraph has for a running node. It hands a plain answer to whatever question is open next, also one
 * that a host's own `interrupt` has taken, and says of none where it came from. That stands in its notes beside the run
 * only, which are read here and nowhere else. Where they cannot be read, nothing is known, and no plain answer counts.
 */
export class NodeAnswers {
  readonly #readConfig: () => Record<string, unknown>;

  /** `readConfig` gives the `configurable` of the node. */
  constructor(readConfig: () => Record<string, unknown>) {
    this.#readConfig = readConfig;
  }

  /** Digests of all answers that the node was handed; undefined when they cannot be read. */
  readTaken(): string[] | undefined {
    return this.#scratchpad?.resume.map(digest);
  }

  /** How many more answers the node can take than it took once; negative if some are gone, 0 when they cannot be read. */
  countChanged(taken: number): number {
    const notes = this.#scratchpad;
    if (notes === undefined) return 0;
    const left = notes.resume.length - (notes.interruptCounter + 1) + (notes.nullResume === undefined ? 0 : 1);
    return left - taken;
  }

  /** True if a human went back to where they said no: a question is open again, or has another answer. */
  hasChanged(taken: number): boolean {
    const changed = this.countChanged(taken);
    // An inner graph is not given its answers again when it is repeated.
    return changed > 0 || (changed < 0 && this.outerCheckpoint === undefined);
  }

  /** Ids of the interrupts that the run was resumed for; undefined where it was not resumed by id. */
  readInterrupts(): ReadonlySet<string> | undefined {
    const map = this.#readConfig().__pregel_resume_map;
    return isRecord(map) ? new Set(Object.keys(map)) : undefined;
  }

  /** The checkpoint of the outermost graph, if the node is in a graph that another one runs. */
  get outerCheckpoint(): string | undefined {
    const config = this.#readConfig();
    return isRecord(config.checkpoint_map) ? readText(config.checkpoint_map, "") : undefined;
  }

  /**
   * Digests of the answers that the outermost graph keeps with its checkpoint: a graph inside of it is handed the last of
   * them again at each of its steps. Empty where there is no other graph, or its checkpoint cannot be read.
   */
  async readOuter(): Promise<string[]> {
    const writes = this.outerCheckpoint === undefined ? undefined : await this.#readWrites(this.outerCheckpoint);
    return (writes ?? []).flatMap(readAnswers);
  }

  /**
   * True if a plain answer may be meant for another question than the one with this interrupt id: LangGraph hands it to
   * every node that waits. So also where the checkpoint the run began with cannot be read.
   * @param checkpoint - the one of this graph, which counts where it is the outermost
   */
  async isShared(value: unknown, interruptId: string, checkpoint: string): Promise<boolean> {
    const writes = await this.#readWrites(this.outerCheckpoint ?? checkpoint);
    if (writes === undefined) return true;
    const byTask = Map.groupBy(writes, ([task]) => task);
    byTask.delete(NO_TASK);
    return [...byTask.values()].some((ofTask) => {
      // An answer by the id of an interrupt is kept under that id.
      const asked = ofTask.flatMap(readInterruptIds).filter((id) => id === interruptId || !byTask.has(id));
      const isOpen = ofTask.every(([, channel]) => channel === INTERRUPT || channel === RESUME);
      if (isOpen && asked.some((id) => id !== interruptId)) return true;
      return !asked.includes(interruptId) && ofTask.flatMap(readAnswers).includes(digest(value));
    });
  }

  /** What the checkpoint keeps of its tasks; undefined where it cannot be read. */
  async #readWrites(checkpoint: string): Promise<PendingWrite[] | undefined> {
    const { __pregel_checkpointer: saver, thread_id } = this.#readConfig();
    if (!canRead(saver)) return undefined;
    const address = { thread_id, checkpoint_ns: "", checkpoint_id: checkpoint };
    const saved = await saver.getTuple({ configurable: address }).catch(() => undefined);
    if (!isRecord(saved)) return undefined;
    const writes: unknown = saved.pendingWrites ?? [];
    return Array.isArray(writes) ? writes.filter(isPendingWrite) : undefined;
  }

  get #scratchpad(): Scratchpad | undefined {
    const notes = this.#readConfig().__pregel_scratchpad;
    const isReadable = isRecord(notes) && Array.isArray(notes.resume) && typeof notes.interruptCounter === "number";
    return isReadable ? (notes as unknown as Scratchpad) : undefined;
  }
}

function isPendingWrite(write: unknown): write is PendingWrite {
  return Array.isArray(write) && typeof write[0] === "string" && typeof write[1] === "string";
}

/** A task's answers stand in a list, a plain one by itself. */
function readAnswers([, channel, value]: PendingWrite): string[] {
  if (channel !== RESUME) return [];
  return [value, ...(Array.isArray(value) ? value : [])].map(digest);
}

function readInterruptIds([, channel, value]: PendingWrite): string[] {
  if (channel !== INTERRUPT) return [];
  return (Array.isArray(value) ? value : [value]).map((interrupt) => readText(interrupt, "id") ?? "");
}

function canRead(saver: unknown): saver is { getTuple(config: object): Promise<unknown> } {
  return typeof saver === "object" && saver !== null && "getTuple" in saver && typeof saver.getTuple === "function";
}
