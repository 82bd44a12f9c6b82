import { describe, expect, it } from "vitest";
import type { Integration } from "../../../src/apps/port/integration.ts";
import type { KeptWrite } from "../../../src/apps/port/undo.ts";
import { ServiceError } from "../../../src/service/service-error.ts";
import { createRoll, type Roll } from "../../fixtures/content-files.ts";
import { createKeeper, refusal } from "../run-action.ts";
import { type Account, type Holdings, pick, sorted, type Write } from "../untouched/check-write.ts";

/** A back end of notes on which writes are made and taken back. */
export interface UndoPlace {
  readonly integration: Integration;
  readonly account: Account & { close?(): Promise<void> };
  readonly writes: readonly Write[];
  /** What is compared: all but the trash; see the place for what that is. */
  compare(things: Holdings): readonly (readonly [string, string])[];
  /** Somebody else changes what a write has touched, or takes the place that it is to go back to. */
  meddle(roll: Roll, o: { readonly before: Holdings; readonly after: Holdings }): Promise<void>;
  /** Milliseconds since the epoch. */
  now?(): number;
}

const KINDS = ["undo", "undo", "lost", "never", "changed", "between", "lost and changed", "never and changed"] as const;

interface Ran {
  readonly id: string;
  readonly kept: KeptWrite;
  readonly output: Record<string, unknown> | undefined;
}

/** Makes so many random writes and takes them back, with answers that are lost and somebody else who changes the same. */
export function describeUndo(name: string, open: () => Promise<UndoPlace>, pairs: number): void {
  describe(`writes that are taken back: ${name}`, () => {
    it(`leaves things as they were, or refuses and changes nothing (${pairs} pairs)`, async () => {
      const place = await open();
      const counts = new Map<string, number>();
      try {
        for (let seed = 1; seed <= pairs; seed += 1) {
          const roll = createRoll(seed * 7919);
          const write = place.writes[seed % place.writes.length] as Write;
          const kind = pick(roll, KINDS);
          const done = await checkPair(place, { write, kind, roll }).catch((error: unknown) => {
            const said = error instanceof Error ? error.message : String(error);
            throw new Error(`${write.title}, ${kind}, seed ${seed}: ${said}`, { cause: error });
          });
          counts.set(done, (counts.get(done) ?? 0) + 1);
        }
        if (pairs >= 100) expect([...counts.keys()]).toEqual(expect.arrayContaining([...new Set(KINDS)]));
        expect(counts.get("refused") ?? 0).toBeLessThan(pairs / 3);
      } finally {
        await place.account.close?.();
        await place.integration.close?.();
      }
    });
  });
}

async function checkPair(
  place: UndoPlace,
  { write, kind, roll }: { readonly write: Write; readonly kind: (typeof KINDS)[number]; readonly roll: Roll },
): Promise<string> {
  const { account, integration } = place;
  const { things, call } = write.roll(roll);
  await account.fill(things);
  const before = await account.look();
  const keeper = createKeeper(integration, { settings: account.settings, ...(place.now && { now: place.now }) });
  const ran = await runOnce(keeper, call, kind.startsWith("never"));
  if (ran === undefined) {
    expect(place.compare(await account.look())).toEqual(place.compare(before));
    return "refused";
  }
  const after = await account.look();
  if (kind.endsWith("changed")) await place.meddle(roll, { before, after });
  if (kind.startsWith("never")) {
    const found = await keeper.settle(ran.id, { intent: ran.kept.intent, after: undefined });
    const right = kind === "never" ? ["did_not"] : ["did_not", "cannot_know"];
    expect(right, JSON.stringify(found)).toContain(found?.verdict);
    return kind;
  }
  // What somebody erased is as if it had never been.
  const isErased = JSON.stringify(place.compare(await account.look())) === JSON.stringify(place.compare(before));
  const kept = kind.startsWith("lost") ? await settle(keeper, ran, { kind, isErased }) : ran.kept;
  if (kept !== undefined) await checkUndo(place, { keeper, ran: { ...ran, kept }, kind, roll, before, after });
  return kind;
}

/** Runs a write; undefined where it is refused, or keeps nothing. `isCut`: it is stopped right before it acts. */
async function runOnce(
  keeper: ReturnType<typeof createKeeper>,
  call: ReturnType<Write["roll"]>["call"],
  isCut: boolean,
): Promise<Ran | undefined> {
  let ran: Ran | undefined;
  const onKept = () => {
    if (isCut) throw new Error("cut");
  };
  const run = async (id: string, args: Record<string, unknown>) => {
    const { kept, ...done } = await keeper.run(id, args, { onKept });
    if ("error" in done && !isCut && !(done.error instanceof ServiceError && done.error.status < 500)) throw done.error;
    const output = "output" in done ? done.output : undefined;
    if (kept !== undefined && (isCut || output !== undefined)) ran = { id, kept, output };
    if (!isCut && output !== undefined) expect(kept?.after, "what it left").toBeDefined();
    return output;
  };
  await call(run);
  return ran;
}

async function settle(
  keeper: ReturnType<typeof createKeeper>,
  { id, kept, output }: Ran,
  { kind, isErased }: { readonly kind: string; readonly isErased: boolean },
) {
  const found = await keeper.settle(id, { intent: kept.intent, after: undefined });
  if (isErased && found?.verdict === "did_not") return undefined;
  if (kind === "lost and changed" && found?.verdict === "cannot_know") return undefined;
  expect(found).toMatchObject({ verdict: "happened" });
  if (found?.verdict !== "happened") return undefined;
  if (kind === "lost") expect(JSON.parse(JSON.stringify(found.output))).toEqual(output);
  return { intent: kept.intent, after: found.after };
}

async function checkUndo(
  place: UndoPlace,
  o: {
    readonly keeper: ReturnType<typeof createKeeper>;
    readonly ran: Ran;
    readonly kind: string;
    readonly roll: Roll;
    readonly before: Holdings;
    readonly after: Holdings;
  },
): Promise<void> {
  const { account } = place;
  const { keeper, ran } = o;
  const planned = keeper.plan(ran.id, ran.kept);
  const shown = await account.look();
  if (o.kind.endsWith("changed")) {
    expect((await refusal(planned)).code).toBe("undo_unavailable");
    expect(sorted(await account.look())).toEqual(sorted(shown));
    return;
  }
  const { act, preview } = await planned;
  expect(sorted(await account.look()), "a plan").toEqual(sorted(shown));
  expect(preview).toMatchObject({ objectCount: 1, undo: { possible: false, why: expect.any(String) } });
  if (o.kind === "between") {
    await place.meddle(o.roll, o);
    const changed = await account.look();
    const { code } = await refusal(act());
    expect(["state_changed", "undo_unavailable", "not_found"]).toContain(code);
    expect(place.compare(await account.look())).toEqual(place.compare(changed));
    return;
  }
  await act();
  expect(place.compare(await account.look()), "after the undo").toEqual(place.compare(o.before));
}
