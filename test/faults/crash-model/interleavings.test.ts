import fc, { type Arbitrary } from "fast-check";
import { expect, test, vi } from "vitest";
import { hasLeft } from "../../../src/plugin/calls/journal/journal-record.ts";
import { choose, isLongForm } from "../kit/fault-form.ts";
import { FATES } from "./effect-service.ts";
import { type Machine, startMachine } from "./machine.ts";
import { ModelProcess } from "./process.ts";
import { ANSWERS, type CallSpec } from "./run.ts";

/**
 * Two processes on one state folder make calls, are asked, crash at any step and come back, in any order. What must hold
 * in every order: one effect for one yes, to exactly what was shown; nothing sent again without a word while nobody
 * knows what became of it; and a journal that can be read and has every write that was sent.
 */

const RUNS = choose({ short: 100, long: 6_000 });
/** The long form looks elsewhere each time; a finding names its seed, and `SVC_FUZZ_SEED` repeats it. */
const SEED = Number(process.env.SVC_FUZZ_SEED ?? (isLongForm ? Date.now() % 2 ** 31 : 20_261_122));
const MINUTE = 60_000;

vi.setConfig({ testTimeout: choose({ short: 120_000, long: 4 * 3_600_000 }) });

interface Pushes {
  readonly process: number;
  readonly times: number;
  readonly answer: (typeof ANSWERS)[number];
  readonly fate: (typeof FATES)[number];
}

type Command =
  | ({ readonly do: "call"; readonly id: string; readonly what: number; readonly keeps: boolean } & Pushes)
  | ({ readonly do: "step"; readonly nth: number } & Pushes)
  | { readonly do: "crash"; readonly process: number; readonly torn: boolean }
  | { readonly do: "revoke"; readonly process: number; readonly connection: string }
  | { readonly do: "clock"; readonly by: number }
  | { readonly do: "file"; readonly content: string };

const which = fc.nat(1);
const pushes = {
  process: which,
  // Often to the end, so that other calls begin behind it.
  times: fc.constantFrom(0, 1, 2, 3, 4, 5, 20, 20, 20),
  answer: fc.constantFrom("yes" as const, "yes" as const, ...ANSWERS),
  fate: fc.constantFrom(...FATES, "act" as const, "lose after" as const),
};
const step = fc.record({ do: fc.constant("step" as const), nth: fc.nat(1), ...pushes });
const call = fc.record({
  do: fc.constant("call" as const),
  id: fc.constantFrom("c1", "c1", "c2", "c3"),
  what: fc.nat(1),
  keeps: fc.boolean(),
  ...pushes,
});
const command: Arbitrary<Command> = fc.oneof(
  { weight: 5, arbitrary: step },
  { weight: 5, arbitrary: call },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("crash" as const), process: which, torn: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("revoke" as const),
      process: which,
      connection: fc.constantFrom("k1", "k2"),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("clock" as const),
      by: fc.constantFrom(-25 * 60 * MINUTE, -11 * MINUTE, -1, 1, 9 * MINUTE, 11 * MINUTE, 25 * 60 * MINUTE),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("file" as const), content: fc.constantFrom("first", "second") }),
  },
);

/** A life has calls of one or two kinds only, so that equal ones meet. */
const kinds = fc.oneof(
  fc.constantFrom([0, 3], [2, 3], [0, 1], [0, 2], [5]),
  fc.array(fc.nat(6), { minLength: 1, maxLength: 2 }),
);

function specify(machine: Machine, { id, keeps }: Extract<Command, { do: "call" }>, kind: number): CallSpec {
  const calls = [
    { toolName: "probe_write", arguments: { text: "a" } },
    { toolName: "probe_write", arguments: { text: "b" } },
    { toolName: "probe_write", arguments: { text: "a" }, connectionId: "k1" },
    { toolName: "probe_write", arguments: { text: "a" }, connectionId: "k2" },
    { toolName: "probe_keyed", arguments: { text: "a" } },
    { toolName: "probe_store", arguments: { text: "a", file: machine.filePath } },
    { toolName: "probe_vague", arguments: { text: "a" } },
  ] as const;
  return { ...calls[kind as 0], callId: id, keepsAnswers: keeps };
}

interface World {
  readonly machine: Machine;
  readonly processes: readonly ModelProcess[];
  readonly kinds: readonly number[];
}

async function carryOut({ machine, processes, kinds }: World, one: Command): Promise<void> {
  machine.clock.now += 1;
  if (one.do === "clock") machine.clock.now += one.by;
  else if (one.do === "file") await machine.writeFile(one.content);
  else {
    const chosen = processes[one.process] as ModelProcess;
    if (one.do === "call")
      await chosen.call(specify(machine, one, kinds[one.what % kinds.length] as number), one, one.times);
    else if (one.do === "step") await chosen.step(one.nth, one, one.times);
    else if (one.do === "crash") await chosen.crash(one.torn);
    else await chosen.revoke("probe_write", one.connection);
  }
}

async function live(kinds: readonly number[], commands: readonly Command[]): Promise<void> {
  const machine = await startMachine();
  const processes = [new ModelProcess(machine), new ModelProcess(machine)];
  try {
    for (const one of commands) {
      await carryOut({ machine, processes, kinds }, one);
      expect(machine.oracle.violations).toEqual([]);
    }
    for (const one of processes) await one.crash(false);
    const records = await machine.readJournal();
    const kept = new Set(records.filter(hasLeft).map(({ callId }) => callId));
    const missing = machine.oracle.unknown.filter((call) => !kept.has(call.split(" ")[0] as string));
    expect([...machine.oracle.violations, ...missing]).toEqual([]);
  } finally {
    for (const one of processes) await one.crash(false);
    await machine.close();
  }
}

test("in any order of calls, answers, losses and crashes of two processes nothing happens that nobody agreed to", async () => {
  const commands = fc.array(command, { minLength: 4, maxLength: 40, size: "max" });
  await fc.assert(fc.asyncProperty(kinds, commands, live), { numRuns: RUNS, seed: SEED });
});
