import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc, { type Arbitrary } from "fast-check";
import { expect, test, vi } from "vitest";
import type { Action } from "../../src/apps/port/integration.ts";
import type { ApprovalRequest } from "../../src/plugin/calls/ask/request.ts";
import type { ToolSession } from "../../src/plugin/calls/session.ts";
import { startTestService, type TestService } from "../../src/testing.ts";
import { createProbe } from "../contract/probe-integration.ts";
import { startLossyProxy } from "../plugin/calls/lossy-proxy.ts";
import { findFreePort } from "../service/free-port.ts";
import { choose, isLongForm } from "./kit/fault-form.ts";
import { checkOutcome, openFaultSession } from "./kit/fault-lab.ts";

/**
 * A write under an idempotency key is lost before or after it arrives, some times over, while account, tool, pins, clocks
 * and permissions change and both sides are started anew. What must hold whatever the order: no effect on anything but
 * what was approved, while the approval counted, and never two.
 */

const RUNS = choose({ short: 25, long: 2_000 });
/** The long form looks elsewhere each time; a finding names its seed, and `SVC_FUZZ_SEED` repeats it. */
const SEED = Number(process.env.SVC_FUZZ_SEED ?? (isLongForm ? Date.now() % 2 ** 31 : 20_261_123));
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const PATH = "/api/executions";
const CALL = { callId: "c1", toolName: "probe_write_text", arguments: { text: "once" } };

vi.setConfig({ testTimeout: choose({ short: 180_000, long: 4 * 3_600_000 }) });

const CHANGES = {
  "other default": (w: World) => w.service.service.connections.update(w.second, { isDefault: true }),
  "first default": (w: World) => w.service.service.connections.update(w.first, { isDefault: true }),
  "other name": (w: World) => w.service.service.connections.update(w.first, { label: "Other" }),
  "account removed": (w: World) => w.service.service.connections.remove(w.first),
  "tool deletes": (w: World) => w.changeAction({ level: "delete" }),
  "tool writes": (w: World) => w.changeAction({ level: "write" }),
  "other arguments": (w: World) => w.changeAction({ inputSchema: { type: "object" } }),
  "pins changed": (w: World) => w.changePins(),
  "permission revoked": (w: World) =>
    w.owner.rules.revoke({ principal: w.owner.principal, tool: CALL.toolName, connection: w.first }),
  "minutes pass": (w: World) => (w.ours.skew += 11 * MINUTE),
  "plugin 8 days ahead": (w: World) => (w.ours.skew += 8 * DAY),
  "plugin 8 days back": (w: World) => (w.ours.skew -= 8 * DAY),
  "service 8 days ahead": (w: World) => (w.theirs.skew += 8 * DAY),
  "service 8 days back": (w: World) => (w.theirs.skew -= 8 * DAY),
  "service restarted": (w: World) => w.restart(),
} as const satisfies Record<string, (world: World) => unknown>;

/** What happens before a try, and to its request. */
interface Step {
  readonly changes: readonly (keyof typeof CHANGES)[];
  readonly fate: "lost before" | "lost after" | "passes";
}

interface Life {
  readonly isAlways: boolean;
  readonly processes: number;
  readonly steps: readonly Step[];
}

const names = Object.keys(CHANGES) as (keyof typeof CHANGES)[];
const step: Arbitrary<Step> = fc.record({
  changes: fc.oneof(
    { weight: 1, arbitrary: fc.constant([]) },
    { weight: 3, arbitrary: fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 3 }) },
  ),
  fate: fc.constantFrom("lost before", "lost before", "lost after", "passes"),
});
const life: Arbitrary<Life> = fc.record({
  isAlways: fc.boolean(),
  processes: fc.integer({ min: 1, max: 3 }),
  steps: fc.array(step, { minLength: 2, maxLength: 12 }),
});

/** A service, a way to it that loses requests, and what was agreed to. */
class World {
  readonly ours = { skew: 0, now: () => Date.now() + this.ours.skew };
  readonly theirs = { skew: 0, now: () => Date.now() + this.theirs.skew };
  readonly probe = createProbe();
  readonly action = this.probe.integration.actions.find(({ id }) => id === "write_text") as Action;
  readonly schema = this.action.inputSchema;
  readonly agreed: ApprovalRequest[] = [];
  readonly violations: string[] = [];
  effects = 0;
  hasOtherPins = false;
  first = "";
  second = "";
  folder = "";
  service!: TestService;
  proxy!: Awaited<ReturnType<typeof startLossyProxy>>;
  owner!: ToolSession;
  /** Of the first start: with another key it would be another call. */
  #apiKey = "";
  readonly #port: number;
  readonly #steps: Step[];
  #closeOwner: () => Promise<void> = async () => {};

  constructor(port: number, steps: readonly Step[]) {
    this.#port = port;
    this.#steps = [...steps];
  }

  async open(isAlways: boolean): Promise<void> {
    this.folder = await mkdtemp(join(tmpdir(), "svc-keyed-"));
    const run = this.action.run;
    Object.assign(this.action, {
      run: (...given: Parameters<Action["run"]>) => {
        this.#judge(given[1].connection);
        return run(...given);
      },
    });
    await this.#start();
    this.#apiKey = this.service.apiKey;
    const { connections } = this.service.service;
    this.first = (await connections.add({ integration: "probe", label: "First", settings: {} })).id;
    this.second = (await connections.add({ integration: "probe", label: "Second", settings: {} })).id;
    await connections.update(this.first, { isDefault: true });
    this.proxy = await startLossyProxy(`http://127.0.0.1:${this.#port}`);
    const { session, close } = await this.startProcess();
    this.owner = session;
    this.#closeOwner = close;
    const subject = { principal: session.principal, tool: CALL.toolName, connection: this.first };
    if (isAlways) await session.rules.allow({ ...subject, effect: "write" });
  }

  /** Also tells the store: what is kept for its old state counts no more. */
  async changeAction(change: Partial<Action>): Promise<void> {
    Object.assign(this.action, change);
    await this.service.service.connections.update(this.second, { label: "Second" });
  }

  async #start(): Promise<void> {
    const integrations = [this.probe.integration];
    const dataDir = join(this.folder, "service");
    this.service = await startTestService({ dataDir, integrations, port: this.#port, now: this.theirs.now });
  }

  async restart(): Promise<void> {
    await this.service.close();
    await this.#start();
  }

  startProcess() {
    return openFaultSession(
      { url: this.proxy.url, apiKey: this.#apiKey },
      {
        stateDir: join(this.folder, "state"),
        now: this.ours.now,
        timeoutMs: 10_000,
        sleep: () => this.step(),
        approve: async (request) => {
          this.agreed.push(request);
          return { type: "approve", id: request.id, fingerprint: request.fingerprint };
        },
      },
    );
  }

  /** Before a try: what changes, and what will become of the request. */
  async step(): Promise<void> {
    const { changes, fate } = this.#steps.shift() ?? { changes: [], fate: "passes" };
    for (const name of changes) await Promise.resolve(CHANGES[name](this)).catch(() => undefined);
    if (fate === "lost after") this.proxy.lose(PATH, 1);
    else this.proxy.drop(PATH, fate === "passes" ? 0 : 1);
  }

  async changePins(): Promise<void> {
    this.hasOtherPins = true;
    await writeFile(join(this.folder, "state", "tools.lock.json"), '{"version":1,"tools":{}}');
  }

  /** An effect takes place: on this account, by the tool as it is now. */
  #judge({ id, label }: { readonly id: string; readonly label: string }): void {
    this.effects += 1;
    const what = `${this.action.level} on ${label}`;
    const isTool = this.action.inputSchema === this.schema && !this.hasOtherPins;
    const isAgreed = this.agreed.some(
      ({ connection, account, effect, expiresAt }) =>
        connection === id &&
        account === label &&
        effect === this.action.level &&
        this.ours.now() < Date.parse(expiresAt),
    );
    const subject = { principal: this.owner.principal, tool: CALL.toolName, connection: id, effect: this.action.level };
    const isAllowed = label === "First" && this.owner.rules.allows(subject);
    if (this.effects > 1) this.violations.push(`a second effect: ${what}`);
    if (!isTool) this.violations.push(`the tool is another one: ${what}`);
    if (!isAgreed && !isAllowed) this.violations.push(`nobody agreed to: ${what}`);
  }

  async close(): Promise<void> {
    await this.#closeOwner();
    await this.proxy.close();
    await this.service.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function live({ isAlways, processes, steps }: Life): Promise<void> {
  const [begin, ...rest] = steps;
  // Nothing has changed when the request is sent first.
  const world = new World(await findFreePort(), [{ changes: [], fate: begin?.fate ?? "passes" }, ...rest]);
  try {
    await world.open(isAlways);
    for (let count = 0; count < processes; count += 1) {
      await world.step();
      const { session, close } = await world.startProcess();
      const outcome = await session.call(CALL).finally(close);
      expect(world.violations).toEqual([]);
      checkOutcome(outcome, world.effects, `process ${count + 1}`);
    }
  } finally {
    await world.close();
  }
}

test("whatever changes between a lost keyed request and its repetition, only what was approved is done, and once", async () => {
  await fc.assert(fc.asyncProperty(life, live), { numRuns: RUNS, seed: SEED });
});
