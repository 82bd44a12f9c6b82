import type { KeptWrite, Verdict } from "../../../apps/port/undo.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { Connections } from "../../connections/connection.ts";
import { ServiceError } from "../../service-error.ts";
import type { ExecutionRow } from "../../store/schema.ts";
import type { ExecutionLog } from "../execution-log.ts";
import { type PreparedCall, type RunParts, settleByState } from "../run-action.ts";
import { isDoubtful } from "../summarise-outcome.ts";
import { type KeptWrites, undoUntil } from "./kept-writes.ts";

/** How long after its answer was lost a write is looked for, in milliseconds: by then its app has done what it was sent. */
const CERTAIN_AFTER_MS = 15_000;
/** Longest look, in milliseconds. */
const LOOK_MS = 10_000;

/** Keeps writes while they run, and finds out about those whose answer was lost. */
export type UndoRecords = ReturnType<typeof createUndoRecords>;

interface RecordParts extends RunParts {
  readonly kept: KeptWrites;
  readonly log: Pick<ExecutionLog, "succeed" | "fail">;
  readonly catalog: Catalog;
  readonly connections: Pick<Connections, "list">;
  readonly nodeId: string;
}

/** A call that reached its app. */
type ReachedCall = Pick<PreparedCall, "entry" | "connection">;

/** A call that took effect after all, as it is answered. */
export interface Happened {
  readonly finishedAt: string;
  readonly output: unknown;
  readonly undoableUntil: string | undefined;
}

/** Creates the records of one process. */
export function createUndoRecords(parts: RecordParts) {
  const { kept } = parts;
  /** Writes that their app may still be at, though their time is over. */
  const acting = new Set<string>();
  const settling = createSettling(parts, (id) => acting.has(id));
  return {
    /** For an execution that is about to run; undefined where its action can be neither settled nor undone. */
    open(id: string, call: ReachedCall) {
      const { undo, settle } = call.entry.action;
      if (undo === undefined && settle === undefined) return undefined;
      const keeping = kept.open(id);
      return {
        keep: keeping.keep,
        leave: keeping.leave,
        onActing(work: Promise<unknown>): void {
          const forget = () => acting.delete(id);
          acting.add(id);
          work.then(forget, forget);
        },
        /** Until when it can be undone. Call it before its end is logged. */
        async end(): Promise<string | undefined> {
          return (await keeping.end()) && undo !== undefined ? undoUntil(parts.now()) : undefined;
        },
        /** Looks at once whether a call that was logged as failed took effect all the same. Never throws. */
        async fail(error: ServiceError): Promise<Happened | undefined> {
          try {
            if (isDoubtful(error)) return await findHappened(parts, id, call);
            await keeping.drop();
          } catch {
            // It is looked for again: see `settleSoon`.
          }
          return undefined;
        },
      };
    },

    /**
     * Until when an execution can be undone, or stopped before it acts, as ISO 8601; undefined where there is no record of it, or
     * it was used. It may be refused all the same, once it is planned.
     */
    async findUntil(row: Pick<ExecutionRow, "id" | "tool_name" | "waits_until">): Promise<string | undefined> {
      const { id, tool_name, waits_until } = row;
      if (waits_until !== null) return waits_until;
      if (parts.catalog.find(tool_name)?.action.undo === undefined) return undefined;
      const write = await kept.findState(id);
      return write?.state === "done" ? undoUntil(Date.parse(write.keptAt)) : undefined;
    },

    /**
     * Looks, beside everything else, for every write whose answer was lost, once its app can no longer be at it, and writes into
     * the log what was found. What cannot be looked at now is looked at the next time.
     */
    settleSoon: settling.start,
    /** Begins no further look; resolves when the last one has ended. */
    stop: settling.stop,
  };
}

/** One round of looks at a time. */
function createSettling(parts: RecordParts, isActing: (id: string) => boolean) {
  let round: Promise<void> | undefined;
  let isStopping = false;

  async function settleAll(): Promise<void> {
    for (const row of await parts.kept.listUnsettled(parts.nodeId)) {
      if (isStopping) return;
      const isOver = parts.now() - Date.parse(row.finished_at ?? "") >= CERTAIN_AFTER_MS;
      if (isOver && !isActing(row.id)) await settleOne(parts, row).catch(() => {});
    }
  }

  return {
    start(): void {
      if (isStopping) return;
      round ??= settleAll()
        .catch(() => {})
        .finally(() => {
          round = undefined;
        });
    },
    async stop(): Promise<void> {
      isStopping = true;
      await round;
    },
  };
}

async function look(parts: RecordParts, call: ReachedCall, write: KeptWrite): Promise<Verdict | undefined> {
  const limited = { ...parts, providerTimeoutMs: Math.min(LOOK_MS, parts.providerTimeoutMs) };
  return settleByState(limited, { ...call, clientGone: new AbortController().signal }, write);
}

async function findHappened(parts: RecordParts, id: string, call: ReachedCall): Promise<Happened | undefined> {
  const write = await parts.kept.find(id);
  const found = write && (await look(parts, call, write));
  return found?.verdict === "happened" ? noteHappened(parts, { id, found, call }) : undefined;
}

const FOUND = "The answer of the app was lost. The service looked, and found that it took effect.";

async function noteHappened(
  { kept, log, now }: RecordParts,
  o: { readonly id: string; readonly found: Extract<Verdict, { verdict: "happened" }>; readonly call: ReachedCall },
): Promise<Happened> {
  const { output, after } = o.found;
  const said = { ...output, note: FOUND };
  await kept.settle(o.id, { state: "done", after });
  const finishedAt = await log.succeed(o.id, JSON.stringify(said));
  const canUndo = o.call.entry.action.undo !== undefined;
  return { finishedAt, output: said, undoableUntil: canUndo ? undoUntil(now()) : undefined };
}

async function settleOne(
  parts: RecordParts,
  { id, tool_name, connection_id }: { id: string; tool_name: string; connection_id: string },
): Promise<unknown> {
  const { kept, log } = parts;
  const entry = parts.catalog.find(tool_name);
  const connection = (await parts.connections.list()).find((one) => one.id === connection_id);
  const write = await kept.find(id);
  if (entry === undefined || connection === undefined || write === undefined) return kept.settle(id, { state: "lost" });
  const call = { entry, connection };
  const found = await look(parts, call, write);
  if (found?.verdict === "happened") return noteHappened(parts, { id, found, call });
  const { title } = entry.action;
  if (found?.verdict === "did_not") {
    await log.fail(id, notDone(title));
    return kept.drop(id);
  }
  if (found !== undefined) await log.fail(id, notKnown(title, found.why));
  return kept.settle(id, { state: "lost" });
}

function notDone(title: string): ServiceError {
  return new ServiceError(503, "not_done", `"${title}" got no answer. The service looked: it did not take effect.`, {
    type: "network",
    hint: "Send it again as a new request, if it is still wanted.",
  });
}

function notKnown(title: string, why: string): ServiceError {
  const message = `"${title}" got no answer. Whether it took effect cannot be known: ${why}`;
  return new ServiceError(500, "outcome_unknown", message, {
    hint: "Look at the app itself before you send it again, then as a new request.",
  });
}
