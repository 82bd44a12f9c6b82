import { stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { countWaiting } from "../approvals/approval-rows.ts";
import type { Approvals } from "../approvals/approvals.ts";
import type { Executor } from "../executions/execute-tool.ts";
import type { Outbox } from "../notify/outbox.ts";
import { STORE_FILE } from "../store/data-folder.ts";
import { isShared, type Store } from "../store/open-store.ts";
import { createMeter, type Meter, type Reading } from "./meter.ts";

/**
 * Metrics of one process. They count the calls of the parts that they watch, and read the store when they are asked
 * for. No label names an argument, an account, a device or a person: only apps, routes, kinds and statuses.
 */
export type ServiceMetrics = ReturnType<typeof createServiceMetrics>;

interface StoreParts {
  readonly store: Store;
  readonly accountId: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly dataDir: string;
}

/** Starts at zero. */
export function createServiceMetrics(parts: StoreParts) {
  const meter = createMeter();
  const calls = meter.counter("svc_calls_total", "Calls of tools.", ["app", "outcome"]);
  const waits = meter.counter("svc_waits_total", "Calls and flows that began to wait for the owner.", ["kind"]);
  const decisions = meter.counter("svc_decisions_total", "Decisions of the owner about held calls.", ["decision"]);
  const notes = meter.counter("svc_notes_total", "Messages to targets of notes.", ["target", "outcome"]);
  const requests = meter.histogram("svc_http_request_duration_seconds", "Requests by route and status.", [
    "route",
    "status",
  ]);
  addStoreGauges(meter.gauge, parts);
  addDiskGauges(meter.gauge, parts);

  return {
    /** The text that Prometheus reads. */
    render: meter.render,

    watchExecutor(executor: Executor): Executor {
      meter.gauge("svc_calls_running", "Calls that run in this process.", [], async () => [[executor.running()]]);
      return {
        ...executor,
        async execute(call) {
          const outcome = await executor.execute(call);
          calls.add(outcome.entry?.integration.slug ?? "", outcome.status);
          return outcome;
        },
      };
    },

    watchOutbox(outbox: Outbox): Outbox {
      return {
        ...outbox,
        async add(transaction, id) {
          await outbox.add(transaction, id);
          waits.add(id.startsWith("apr_") ? "call" : "flow");
        },
        async settle(target, message, sent) {
          await outbox.settle(target, message, sent);
          notes.add(target.kind, sent.ok ? "sent" : "failed");
        },
      };
    },

    watchApprovals(approvals: Approvals): Approvals {
      return {
        ...approvals,
        async decide(accountId, calls, decision) {
          const done = await approvals.decide(accountId, calls, decision);
          for (let count = 0; count < done.decided; count += 1) {
            decisions.add(decision.isApproved ? "approved" : "declined");
          }
          return done;
        },
      };
    },

    /** @param route the pattern that matched, never the path */
    countRequest(seconds: number, route: string, status: number): void {
      requests.observe(seconds, route, `${Math.floor(status / 100)}xx`);
    },
  };
}

/** Room on the disk of this process. */
function addDiskGauges(gauge: Meter["gauge"], { store, dataDir }: StoreParts): void {
  gauge("svc_disk_free_bytes", "Free space where the data folder is.", [], async () => {
    const free = await statfs(dataDir).catch(() => undefined);
    return free === undefined ? [] : [[free.bavail * free.bsize]];
  });
  if (isShared(store)) return;
  gauge("svc_database_bytes", "Size of the database with its log of writes.", [], async () => {
    const file = join(dataDir, STORE_FILE);
    const sizes = await Promise.all([file, `${file}-wal`].map((one) => stat(one).catch(() => ({ size: 0 }))));
    return [[sizes.reduce((sum, { size }) => sum + size, 0)]];
  });
}

/** Waiting and running work, in the store that processes may share. */
function addStoreGauges(gauge: Meter["gauge"], { store, accountId, now }: StoreParts): void {
  gauge("svc_approvals_waiting", "Calls that wait for the owner.", [], async () => [
    [await countWaiting(store, accountId, new Date(now()).toISOString())],
  ]);
  gauge("svc_notes_waiting", "Notes that are not sent yet.", [], async () => {
    const { count } = await store
      .selectFrom("notes")
      .select((e) => e.fn.countAll<number | string>().as("count"))
      .executeTakeFirstOrThrow();
    return [[Number(count)]];
  });
  gauge("svc_flows", "Flows that are kept, by status.", ["status"], async () => {
    const rows = await store
      .selectFrom("flows")
      .select((e) => ["status", e.fn.countAll<number | string>().as("count")])
      .groupBy("status")
      .execute();
    return rows.map(({ status, count }): Reading => [Number(count), status]);
  });
}
