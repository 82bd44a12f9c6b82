import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startTestService, type TestService } from "../../src/testing.ts";
import { choose, isLongForm } from "../faults/kit/fault-form.ts";
import { closeAll, closeLater } from "../plugin/calls/open-test-session.ts";
import { makeHost } from "./contract.ts";
import type { Host } from "./door.ts";
import { DOORS } from "./doors.ts";
import { type HistoryStage, playHistory, Workers } from "./history.ts";
import { takeTurn } from "./take-turn.ts";

/** Random histories of every door, with a small model of what a human has said as the judge. */

/** Real doors take their time: all of them are played with `SVC_FAULTS=long`. */
const HISTORIES = choose({ short: 10, long: 1_000 });
const LONGEST_MS = choose({ short: 120_000, long: 4 * 60 * 60_000 });
const STEPS = 6;
/** The long form looks elsewhere each time; a finding names its seed, and `SVC_FUZZ_SEED` repeats it. */
const SEED = Number(process.env.SVC_FUZZ_SEED ?? (isLongForm ? Date.now() % 2 ** 30 : 20_261_128));
/** Histories on one service: its pages and logs grow with them. */
const ON_ONE_SERVICE = 100;
/** Numbers of calls that a history can use. */
const CALLS = 100;
/** One history of so many has a process that is killed: each is a start of Node. */
const KILL_EVERY = choose({ short: 10, long: 50 });
const isWithKill = (seed: number) => seed % KILL_EVERY === 0;

let service: TestService;
let host: Host;
afterEach(closeAll);

describe.each(DOORS.map((door) => [door.name, door] as const))("%s", (_, door) => {
  const stage: HistoryStage = {
    door,
    open: async (change = {}) => closeLater(await door.open({ ...host, ...change })),
    effects: async () => {
      const found = (await service.effects()).map(({ arguments: args }) => args.title ?? args.path);
      return found.filter((title) => typeof title === "string");
    },
    kill: (saved, answers, at) => takeTurn(door.name, { host, saved, answers, at }),
  };
  const openService = async () => {
    const { approvals } = door;
    service = closeLater(await startTestService(approvals === undefined ? {} : { approvals }));
    host = await makeHost(service);
  };
  beforeEach(openService);

  /** The fewest steps of a seed that break something. */
  const shrink = async (seed: number) => {
    for (let steps = 1; steps <= STEPS; steps += 1) {
      await closeAll();
      await openService();
      const broken = await playHistory(stage, new Workers(stage), { seed, steps, first: 0, kills: isWithKill(seed) });
      if (broken !== undefined) return `${broken} (seed ${seed}, ${steps} steps)`;
    }
    return `seed ${seed} by itself breaks nothing`;
  };

  it(`keeps ${HISTORIES} histories from seed ${SEED}`, { timeout: LONGEST_MS }, async () => {
    let workers = new Workers(stage);
    for (let nth = 0; nth < HISTORIES; nth += 1) {
      if (nth > 0 && nth % ON_ONE_SERVICE === 0) {
        await closeAll();
        await openService();
        workers = new Workers(stage);
      }
      const seed = SEED + nth + 1;
      const first = (nth % ON_ONE_SERVICE) * CALLS;
      const broken = await playHistory(stage, workers, { seed, steps: STEPS, first, kills: isWithKill(seed) });
      if (broken !== undefined) expect.fail(`${broken} (seed ${seed}); alone: ${await shrink(seed)}`);
    }
  });
});
