import { constants } from "node:fs";
import { access, statfs } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { hasCode } from "../../shared/base/error-code.ts";
import type { Connections } from "../connections/connection.ts";
import { KEY_FILE } from "../secrets/secret-box.ts";
import type { ServiceLog } from "../service-error.ts";
import type { Store } from "../store/open-store.ts";
import { watchClock } from "./watch-clock.ts";

/** Codes of problems that affect the whole service. */
export const PROBLEM_CODES = [
  "database_unavailable",
  "disk_full",
  "disk_read_only",
  "disk_gone",
  "secrets_key_lost",
  "clock_wrong",
] as const;

type ProblemCode = (typeof PROBLEM_CODES)[number];

/** Something the operator has to look at. Strangers may read it: it names no path, no account and no secret. */
export interface Problem {
  readonly code: ProblemCode;
  /** One sentence. */
  readonly message: string;
}

/** Current problems of this process. */
type Health = ReturnType<typeof createHealth>;

/** Starts without problems. */
export function createHealth(log: ServiceLog) {
  const problems = new Map<ProblemCode, Problem>();
  return {
    /** Everything that is wrong, in the order in which it was found. */
    list: () => [...problems.values()],
    /**
     * Says that a problem is there, or that it is over. The log gets one line for each change.
     *
     * @param found.advice for the log only: what the operator can do, with paths and names.
     */
    report(code: ProblemCode, found: { message: string; advice?: string } | undefined | "" | false): void {
      const known = problems.get(code);
      if (!found) {
        if (known === undefined) return;
        problems.delete(code);
        log({ level: "info", message: `This is over: ${known.message}` });
        return;
      }
      problems.set(code, { code, message: found.message });
      if (known !== undefined) return;
      log({ level: "error", message: [found.message, found.advice].filter(Boolean).join(" ") });
    },
  };
}

/** Lifetime of a check result, in milliseconds. */
const FRESH_MS = 1000;

/** Checks disk, clock and secret key. */
export type Watch = Awaited<ReturnType<typeof openWatch>>;

interface WatchOptions {
  readonly dataDir: string;
  /** A folder, or a place in the network, which is not looked at. */
  readonly files: unknown;
  readonly secretKey?: string;
  readonly heartbeatMs: number;
  readonly now: () => number;
  readonly elapsed: (() => number) | undefined;
  readonly log: ServiceLog;
}

/** Opens the watch of a service that starts; nothing may have been written to the store by this start. */
export async function openWatch(o: WatchOptions, store: Store) {
  const health = createHealth(o.log);
  const folders = [...new Set([o.dataDir, ...(typeof o.files === "string" ? [o.files] : [])])];
  const { now, elapsed } = o;
  const clock = elapsed && watchClock({ now, elapsed }, { newest: await findNewest(store), health });
  let connections: Connections | undefined;
  let timer: NodeJS.Timeout | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking = Promise.resolve();

  async function look(): Promise<void> {
    clock?.check();
    await checkDisk(folders, health);
    // A key is lost between two starts; while it is, connections may be connected again.
    const isLost = health.list().some(({ code }) => code === "secrets_key_lost");
    if (connections !== undefined && isLost) await checkSecrets(connections, o, health);
    lookedAt = performance.now();
  }

  const queueLook = () => {
    looking = looking.then(look).catch(() => {});
    return looking;
  };

  return {
    /** Current problems; checks at most once a second. */
    async listProblems(): Promise<Problem[]> {
      if (performance.now() - lookedAt >= FRESH_MS) await queueLook();
      return health.list();
    },
    /** False while the clock is in doubt: nothing is removed for its age then. */
    isClockBelieved: () => clock?.isBelieved() ?? true,
    /** Looks at the secrets of the connections too, and from now on every few seconds at everything. */
    async start(known: Connections): Promise<void> {
      connections = known;
      await checkSecrets(known, o, health);
      await queueLook();
      timer = setInterval(queueLook, o.heartbeatMs).unref();
    },
    close(): Promise<void> {
      clearInterval(timer);
      return looking;
    },
  };
}

/** Time of the newest record. Times are texts in sortable form. */
async function findNewest(store: Store): Promise<number | undefined> {
  // By account, as the indexes are: otherwise a start would look through everything.
  const { rows } = await sql<{ at: string | null }>`
    select (select max(started_at) from executions where account_id = accounts.id) as at from accounts
    union all select (select max(updated_at) from flows where account_id = accounts.id) from accounts
    union all select max(updated_at) from connections`.execute(store);
  const times = rows.flatMap(({ at }) => (at === null ? [] : [Date.parse(at)]));
  return times.length === 0 ? undefined : Math.max(...times);
}

async function checkSecrets(connections: Connections, o: WatchOptions, health: Health): Promise<void> {
  const lost = (await connections.list()).filter(({ hasLostSecrets }) => hasLostSecrets);
  const names = lost.map(({ label, integration }) => `"${label}" (${integration})`).join(", ");
  const restore =
    o.secretKey === undefined
      ? `restore ${join(o.dataDir, KEY_FILE)} from a backup and start again`
      : "start with the secret key that was used before";
  health.report(
    "secrets_key_lost",
    lost.length > 0 && {
      message: "The key that the secrets of connections were encrypted with is lost; these connections cannot be used.",
      advice: `They are ${names}. Either ${restore}, or connect them again in the dashboard.`,
    },
  );
}

/** A disk with less free space counts as full: each write of the database needs some. */
const MIN_FREE_BYTES = 1024 * 1024;

/** Looks whether the folders of the service can be written, without writing. */
async function checkDisk(folders: readonly string[], health: Health): Promise<void> {
  const found = await Promise.all(folders.map(async (folder) => ({ folder, state: await lookAt(folder) })));
  const find = (state: DiskState) => found.find((one) => one.state === state)?.folder;
  const [full, readOnly, gone] = [find("full"), find("read-only"), find("gone")];
  health.report(
    "disk_full",
    full && { message: "The disk of this service is full.", advice: `Free space for ${full}.` },
  );
  const message = "The disk of this service is read-only.";
  health.report("disk_read_only", readOnly && { message, advice: `Make ${readOnly} writable again.` });
  const advice = `${gone} is gone, or cannot be reached.`;
  health.report("disk_gone", gone && { message: "The disk of this service cannot be reached.", advice });
}

type DiskState = "good" | "full" | "read-only" | "gone";

async function lookAt(folder: string): Promise<DiskState> {
  try {
    await access(folder, constants.W_OK);
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize < MIN_FREE_BYTES ? "full" : "good";
  } catch (error) {
    return hasCode(error, "EROFS") ? "read-only" : "gone";
  }
}
