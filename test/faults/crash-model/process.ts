import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { createToolSession, type ToolSession } from "../../../src/plugin/calls/session.ts";
import { SvcClient } from "../../../src/plugin/client/client.ts";
import type { Machine } from "./machine.ts";
import { type CallSpec, nameCall, type Push, Run } from "./run.ts";

/** Runs of one process at the same time. */
const WIDTH = 2;
/** What a process that dies while it writes leaves at the end of the database's log. */
const HALF_A_PAGE = Buffer.alloc(2_000, 0x55);

/** A process that uses the state folder; it is opened when it is first needed, and again after a crash. */
export class ModelProcess {
  readonly #machine: Machine;
  #opened: { readonly session: ToolSession; readonly client: SvcClient } | undefined;
  #runs: Run[] = [];
  /** Bumped by a crash: what is left of an earlier life sleeps for good. */
  #life = 0;

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  /** Makes a call and pushes it on so many times. */
  async call(spec: CallSpec, push: Push, times: number): Promise<void> {
    this.#runs = this.#runs.filter(({ isOver }) => !isOver);
    // The same call made twice at once is one run, which has tests of its own.
    if (this.#runs.length >= WIDTH || this.#runs.some(({ call }) => call === nameCall(spec))) return;
    // Approved calls of an account go one at a time: one that stands still would keep this one from any stop.
    if (this.#runs.some(({ isUnderWay }) => isUnderWay)) return;
    const { session } = await this.#open();
    const run = new Run(this.#machine, spec);
    this.#runs.push(run);
    await run.start(session);
    await pushOn(run, push, times);
  }

  async step(nth: number, push: Push, times: number): Promise<void> {
    this.#runs = this.#runs.filter(({ isOver }) => !isOver);
    const run = this.#runs.find(({ isUnderWay }) => isUnderWay) ?? this.#runs[nth % Math.max(1, this.#runs.length)];
    if (run !== undefined) await pushOn(run, push, times);
  }

  async revoke(tool: string, connection: string): Promise<void> {
    const { session } = await this.#open();
    await session.rules.revoke({ principal: session.principal, tool, connection });
    this.#machine.oracle.revoke(tool, connection);
  }

  /** Ends it where it stands, as SIGKILL does; `torn` while it writes to the journal. */
  async crash(torn: boolean): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    this.#life += 1;
    for (const run of this.#runs.splice(0)) run.kill();
    if (opened === undefined) return;
    const { session, client } = opened;
    // Neither writes to the journal: they free what the system frees after a kill.
    await session.close();
    await client.close();
    if (torn) await appendFile(join(this.#machine.stateDir, "state.db-wal"), HALF_A_PAGE);
  }

  async #open() {
    this.#opened ??= await this.#openNow();
    return this.#opened;
  }

  async #openNow() {
    const { stateDir, service, clock, folder } = this.#machine;
    const life = this.#life;
    const now = () => clock.now;
    const sleep = () => (life === this.#life ? Promise.resolve() : new Promise<never>(() => {}));
    const client = new SvcClient({ baseUrl: service.url, apiKey: "svc_live_model", sleep, now });
    const session = await createToolSession({ client, stateDir, mediaRoots: [folder], sleep, now, random: () => 0.5 });
    return { session, client };
  }
}

async function pushOn(run: Run, push: Push, times: number): Promise<void> {
  for (let time = 0; time < times && !run.isOver; time += 1) await run.push(push);
}
