import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import type { ToolOutcome } from "../../src/plugin/calls/outcome.ts";
import { openSqlite } from "../../src/service/store/open-sqlite.ts";
import { type WatchedProcess, watchProcess } from "../e2e/watch-process.ts";
import { findFreePort } from "../service/free-port.ts";
import { choose, isLongForm } from "./kit/fault-form.ts";
import { checkOutcome, type FaultSession, nameOutcome, openFaultSession } from "./kit/fault-lab.ts";
import { FAULT_PLACES } from "./kit/fault-places.ts";
import { type FaultProxy, openFaultProxy } from "./kit/fault-proxy.ts";
import { createOutcomeTable } from "./kit/outcome-table.ts";

/**
 * The service is killed with calls at every step: at every byte class of the request that acts and of its answer, and
 * while its app acts. The callers go on, before it is back or after.
 */

const CHILD = fileURLToPath(new URL("kit/service-child.ts", import.meta.url));
const STEPS = ["before acting", "after acting", ...FAULT_PLACES] as const;
const ROUNDS = choose({ short: 1, long: 5 });
const table = createOutcomeTable("step, the caller goes on");

let folder: string;
let served: WatchedProcess | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-steps-"));
});
afterEach(async () => {
  served?.kill("SIGKILL");
  await served?.done;
  await rm(folder, { recursive: true, force: true });
});
afterAll(() => {
  if (isLongForm) console.log(table.print());
});

async function serve(port: number, ...more: string[]): Promise<{ url: string; apiKey: string }> {
  const args = [CHILD, join(folder, "data"), String(port), join(folder, "ledger"), ...more];
  served = watchProcess(process.execPath, args, { env: { ...process.env }, timeoutMs: 120_000 });
  const [, found = ""] = await served.waitFor(/^serving (.+)$/m);
  return JSON.parse(found) as { url: string; apiKey: string };
}

async function countEffects(text: string): Promise<number> {
  const lines = await readFile(join(folder, "ledger"), "utf8").catch(() => "");
  return lines.split("\n").filter((line) => line === text).length;
}

/** Executions by status, as the killed and restarted service keeps them. */
function countExecutions(): Record<string, number> {
  const database = openSqlite(join(folder, "data", "svc.db"));
  const rows = database.prepare("SELECT status, count(*) AS n FROM executions GROUP BY status").all();
  database.close();
  return Object.fromEntries(rows.map(({ status, n }) => [String(status), Number(n)]));
}

interface Case {
  readonly name: string;
  readonly text: string;
  readonly proxy: FaultProxy;
  readonly opened: FaultSession;
  readonly outcome: Promise<ToolOutcome>;
}

/** A call that stands still at its step until `goesOn`. */
async function begin(
  service: { readonly url: string; readonly apiKey: string },
  step: (typeof STEPS)[number],
  { isKeyed, goesOn }: { readonly isKeyed: boolean; readonly goesOn: Promise<unknown> },
): Promise<Case> {
  const name = `${step}, ${isKeyed ? "under" : "without"} a key`;
  const proxy = await openFaultProxy(service.url);
  const address = { url: proxy.url, apiKey: service.apiKey };
  const opened = await openFaultSession(address, {
    idempotencyKeys: isKeyed ? "when_known" : "off",
    sleep: async () => void (await goesOn),
  });
  await opened.session.catalog.find("ledger_write");
  const place = FAULT_PLACES.find((one) => one === step);
  if (place !== undefined) proxy.arm({ place, kind: () => goesOn, request: /^POST / });
  const outcome = opened.session.call({ callId: name, toolName: "ledger_write", arguments: { text: name } });
  if (place !== undefined) await expect.poll(() => proxy.struck, { timeout: 30_000 }).toBe(1);
  else await served?.waitFor(new RegExp(`^holding ${name}$`, "m"));
  return { name, text: name, proxy, opened, outcome };
}

/** Makes the call again, and another one, in the session that saw the service die. */
async function finish({ name, text, proxy, opened, outcome }: Case, when: string): Promise<void> {
  const first = await outcome;
  const effects = await countEffects(text);
  table.add(`${name}, ${when}`, nameOutcome(first));
  checkOutcome(first, effects, name);
  const { session } = opened;
  const again = await session.call({ callId: name, toolName: "ledger_write", arguments: { text } });
  const effectsThen = await countEffects(text);
  // A call that was reported as not done may be done now; any other has acted as often as before.
  if (first.status !== "failed" && name.endsWith("without a key")) expect(effectsThen, name).toBe(effects);
  checkOutcome(again, effectsThen, `${name}, made again`);
  const next = `${name}, next`;
  const after = await session.call({ callId: next, toolName: "ledger_write", arguments: { text: next } });
  expect([after.status, await countEffects(next)], next).toEqual(["succeeded", 1]);
  await opened.close();
  await proxy.close();
}

const WHEN = ["after it is back", "before it is back"] as const;

test.each(choose<readonly string[]>({ short: [WHEN[0]], long: WHEN }))(
  "the service is killed at every step, and callers go on %s",
  async (when) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await rm(folder, { recursive: true, force: true });
      const port = await findFreePort();
      const service = await serve(port, "holds");
      const killed = Promise.withResolvers<void>();
      const cases: Case[] = [];
      for (const step of STEPS) {
        for (const isKeyed of [true, false])
          cases.push(await begin(service, step, { isKeyed, goesOn: killed.promise }));
      }
      served?.kill("SIGKILL");
      await served?.done;
      if (when === "before it is back") killed.resolve();
      if (when === "before it is back") for (const { outcome } of cases) await outcome;
      await serve(port);
      killed.resolve();
      for (const one of cases) await finish(one, when);
      expect(countExecutions().started).toBe(undefined);
      served?.kill("SIGKILL");
      await served?.done;
    }
  },
  300_000,
);
