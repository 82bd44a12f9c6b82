import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import type { KeptWrite } from "../../../src/apps/port/undo.ts";
import { isDoubtful } from "../../../src/service/executions/summarise-outcome.ts";
import { ServiceError } from "../../../src/service/service-error.ts";
import { refusal } from "../run-action.ts";
import type { DriveHost } from "./describe-drive.ts";
import { type Call, calls, move, upload } from "./drive-calls.ts";
import { useDrive } from "./use-drive.ts";

/** Most runs of each property but the first one. */
const MOST_OTHERS = 250;

const writes: fc.Arbitrary<Call> = fc.oneof(
  calls,
  fc.constantFrom(
    upload("n/m", "x.txt"),
    upload("a", "x.txt", "replace"),
    upload("", "x.txt", "rename"),
    move("a/x.txt", "n/m/o.txt"),
    move("a/x.txt", "x.txt", "replace"),
    move("a", "n/a"),
    move("e", ".old/e"),
    ["delete_file", { path: "a/b" }],
    ["create_folder", { path: "n/m/o" }],
  ),
);

/**
 * Undo and settle of every write of a drive. States are compared by all paths outside of the trash, and the text of every file.
 *
 * @param o.runs pairs of a write and its undo, with the fixed `seed`; of each other property, too, as far as they are not too many
 * @param o.isConditional false for a server that knows no conditions
 */
export function describeDriveUndo(
  name: string,
  start: () => Promise<DriveHost>,
  { runs, seed = 7, isConditional = true }: { runs: number; seed?: number; isConditional?: boolean },
): void {
  const others = Math.min(runs, MOST_OTHERS);
  describe(`writes of a drive that are taken back: ${name}`, () => {
    const drive = useDrive(start);
    beforeEach(() => drive.open());
    const check = (numRuns: number, property: (call: Call, other: number) => Promise<void>) =>
      fc.assert(
        fc.asyncProperty(writes, fc.nat(23), async (call, other) => {
          await drive.open();
          await property(call, other);
        }),
        { numRuns, seed },
      );

    it("leave all as it was before", async () => {
      const counts = { undone: 0, impossible: 0, same: 0 };
      await check(runs, async (call) => {
        const before = await drive.readAll();
        const { kept, error } = await drive.keep(call);
        if (kept === undefined || error !== undefined) {
          expect(await drive.readAll()).toEqual(before);
          counts[error === undefined ? "same" : "impossible"] += 1;
          return;
        }
        expect(await drive.readAll()).not.toEqual(before);
        expect(kept.after).toBeDefined();
        await (await drive.plan(call, kept)).act();
        expect(await drive.readAll(), JSON.stringify(call)).toEqual(before);
        counts.undone += 1;
      });
      console.log(`${name}, undone: ${JSON.stringify(counts)}`);
      expect(counts.undone).toBeGreaterThan(runs / 3);
    });

    it("stay where somebody else changed what they made, before the plan or after it", async () => {
      const counts = { before: 0, after: 0 };
      await check(others, async (call, other) => {
        const { kept, output } = await drive.keep(call);
        if (kept === undefined || output === undefined) return;
        const when = other % 2 === 0 || !isConditional ? "before" : "after";
        const plan = when === "after" ? await drive.plan(call, kept) : undefined;
        await drive.meddle(call, output);
        const meddled = await drive.readAll();
        const refused = await refusal(plan === undefined ? drive.plan(call, kept) : plan.act());
        expect([refused.status, refused.code], JSON.stringify([when, call, refused.message])).toEqual(
          plan === undefined ? [409, "undo_unavailable"] : [412, "state_changed"],
        );
        expect(await drive.readAll(), JSON.stringify([when, call])).toEqual(meddled);
        counts[when] += 1;
      });
      console.log(`${name}, refused: ${JSON.stringify(counts)}`);
      expect(counts.before).toBeGreaterThan(others / 6);
    });

    it("are known to have happened or not, when their answer is lost", async () => {
      const counts = { happened: 0, did_not: 0 };
      await check(others, async (call, other) => {
        const before = await drive.readAll();
        const isDone = other % 2 === 0;
        const lose = () => {
          throw new Error("The answer is lost.");
        };
        const { kept, output } = await drive.keep(call, isDone ? undefined : lose);
        if (kept === undefined || (isDone && output === undefined)) return;
        const after = await drive.readAll();
        const found = await drive.settle(call, kept);
        expect(found?.verdict, JSON.stringify([call, found])).toBe(isDone ? "happened" : "did_not");
        counts[isDone ? "happened" : "did_not"] += 1;
        expect(await drive.readAll()).toEqual(after);
        if (found?.verdict !== "happened") return;
        expect(found.after).toEqual(kept.after);
        expect(found.output).toMatchObject(pickFacts(output));
        await (await drive.plan(call, { intent: kept.intent, after: other < 12 ? found.after : undefined })).act();
        expect(await drive.readAll()).toEqual(before);
      });
      console.log(`${name}, settled: ${JSON.stringify(counts)}`);
      expect(Math.min(counts.happened, counts.did_not)).toBeGreaterThan(others / 8);
    });

    it("are never said to have happened, or not, where somebody else changed their places since", async () => {
      const counts = { happened: 0, did_not: 0, cannot_know: 0 };
      await check(others, async (call, other) => {
        const isDone = other % 2 === 0;
        const lose = () => {
          throw new Error("The answer is lost.");
        };
        const { kept, output } = await drive.keep(call, isDone ? undefined : lose);
        if (kept === undefined || (isDone && output === undefined)) return;
        await drive.meddle(call, output ?? { path: findPlace(call) });
        const { verdict } = (await drive.settle(call, kept)) ?? {};
        expect(verdict, JSON.stringify(call)).not.toBe(isDone ? "did_not" : "happened");
        if (verdict !== undefined) counts[verdict] += 1;
      });
      console.log(`${name}, settled after changes: ${JSON.stringify(counts)}`);
      expect(counts.cannot_know).toBeGreaterThan(others / 8);
    });

    it("are settled wherever a connection ended between their requests", async () => {
      if (!drive.canCut()) return;
      const counts = { happened: 0, did_not: 0, cannot_know: 0, refused: 0, done: 0 };
      await check(others, async (call, other) => {
        const before = await drive.readAll();
        const cut = { at: 1 + Math.floor(other / 2), isDone: other % 2 === 0 };
        const { kept, error } = await drive.keep(call, () => drive.cut(cut));
        drive.cut(undefined);
        if (kept === undefined) return;
        const after = await drive.readAll();
        if (error instanceof ServiceError && !isDoubtful(error)) {
          expect(pickFiles(after), JSON.stringify([call, cut, error.message])).toEqual(pickFiles(before));
          counts.refused += 1;
          return;
        }
        const found = await drive.settle(call, kept);
        const verdict = found?.verdict ?? "cannot_know";
        counts[error === undefined ? "done" : verdict] += 1;
        if (error === undefined) expect(verdict, JSON.stringify([call, cut])).toBe("happened");
        if (verdict === "did_not") expect(pickFiles(after), JSON.stringify([call, cut])).toEqual(pickFiles(before));
        if (found?.verdict !== "happened") return;
        await (await drive.plan(call, { intent: kept.intent, after: found.after })).act();
        expect(await drive.readAll(), JSON.stringify([call, cut])).toEqual(before);
      });
      console.log(`${name}, cut: ${JSON.stringify(counts)}`);
      expect(counts.happened + counts.did_not).toBeGreaterThan(0);
    });

    describe("say", () => {
      const plan = async (call: Call) => drive.plan(call, (await drive.keep(call)).kept);

      it("that a deleted thing comes back", async () => {
        const { preview, raised } = await plan(["delete_file", { path: "a" }]);
        expect(preview).toMatchObject({
          summary: 'Bring back "a" from the trash in "Test"',
          objects: expect.arrayContaining(["a", "b/y.txt", "x.txt"].map((name) => expect.objectContaining({ name }))),
          changes: [{ field: "Place", before: ".trash", after: "a" }],
          undo: { possible: false },
        });
        expect(raised).toBeUndefined();
      });

      it("that a moved thing goes back, with what it replaced and made", async () => {
        const { preview, raised } = await plan(move("a/x.txt", "x.txt", "replace"));
        expect(preview).toMatchObject({
          summary: 'Move "x.txt" back to "a/x.txt" in "Test"',
          changes: [{ field: "Folder", before: "top of the drive", after: "a" }],
          effects: [{ code: "restores", text: 'The replaced file "x.txt" comes back from .trash.' }],
        });
        expect(raised).toBeUndefined();
        await drive.open();
        expect((await plan(move("a", "n/a"))).preview.summary).toBe('Move "a" back to "a" in "Test"');
        await drive.open();
        const { output = {} } = await drive.keep(["delete_file", { path: "x.txt" }]);
        const restored = await plan(move(String(output.trashed_to), "back.txt"));
        expect(restored.raised?.level).toBe("delete");
      });

      it("that a saved file goes, or its old version comes back", async () => {
        const fresh = await plan(upload("a", "new.txt"));
        expect(fresh.preview.summary).toBe('Take the saved file "new.txt" away from "Test"');
        expect(fresh.preview.effects).toMatchObject([{ code: "moves_to_trash" }]);
        expect(fresh.raised).toEqual({ level: "delete", says: "moves the saved file to .trash" });
        const over = await plan(upload("a", "x.txt", "replace"));
        expect(over.preview).toMatchObject({
          summary: 'Bring back the old version of "x.txt" in "Test"',
          changes: [
            { field: "Text", diff: "@@ -1,3 +1,1 @@\n-one\n-new\n-three\n+ax" },
            { field: "Size", before: "14 bytes", after: "3 bytes" },
          ],
          effects: [{ code: "replaces" }],
        });
        expect(over.raised?.level).toBe("delete");
      });

      it("that an empty folder goes", async () => {
        const { preview, raised } = await plan(["create_folder", { path: "n/m" }]);
        expect(preview).toMatchObject({
          summary: 'Take the empty folder "n/m" away from "Test"',
          objects: [{ name: "n" }, { name: "n/m" }],
          effects: [{ code: "removes_folder" }],
        });
        expect(raised?.level).toBe("delete");
      });
    });

    it("keep what they replace, and what is taken back, in the trash, and say where", async () => {
      const call = upload("a", "x.txt", "replace");
      const { kept, output = {} } = await drive.keep(call);
      expect(await drive.read(String(output.old_version))).toBe("ax\n");
      await (await drive.plan(call, kept)).act();
      const trash = Object.values(await drive.readAll(".trash"));
      expect(trash.filter((text) => text !== "")).toEqual(["one\nnew\nthree\n"]);
      expect((await refusal(drive.plan(call, kept))).code).toBe("undo_unavailable");
    });

    it("are taken back one after another, the last one first", async () => {
      const before = await drive.readAll();
      const done: [Call, KeptWrite | undefined][] = [];
      for (const call of [
        upload("a", "x.txt", "replace"),
        move("a/x.txt", "n/x.txt"),
        move("n/x.txt", "x.txt", "replace"),
        ["delete_file", { path: "x.txt" }],
        ["create_folder", { path: "x.txt" }],
      ] satisfies Call[])
        done.push([call, (await drive.keep(call)).kept]);
      const first = done[0];
      if (first !== undefined) expect((await refusal(drive.plan(...first))).code).toBe("undo_unavailable");
      for (const [call, kept] of done.toReversed()) await (await drive.plan(call, kept)).act();
      expect(await drive.readAll()).toEqual(before);
    });

    it("keep nothing where nothing changes", async () => {
      expect((await drive.keep(["create_folder", { path: "a" }])).kept).toBeUndefined();
      expect((await drive.keep(move("x.txt", "x.txt", "replace"))).kept).toBeUndefined();
    });

    it("take another numbered name when the planned one is taken at the last moment", async () => {
      const call = upload("", "x.txt", "rename");
      const before = await drive.readAll();
      const all: Awaited<ReturnType<typeof drive.keep>>[] = [];
      const outer = await drive.keep(call, async () => void all.push(await drive.keep(call)));
      all.push(outer);
      expect(all.map(({ output = {} }) => output.name)).toEqual(["x (2).txt", "x (3).txt"]);
      // Which of the two is whose cannot be told where both have the same bytes.
      if (outer.kept !== undefined) expect((await drive.settle(call, outer.kept))?.verdict).toBe("cannot_know");
      for (const { kept } of all) await (await drive.plan(call, kept)).act();
      expect(await drive.readAll()).toEqual(before);
    });

    it("say of somebody else's change at the last moment that nothing was done", async () => {
      for (const [call, path] of [
        [upload("", "x.txt", "replace"), "x.txt"],
        [["delete_file", { path: "x.txt" }], "x.txt"],
        [move("x.txt", "z.txt"), "x.txt"],
        [move("a/x.txt", "x.txt", "replace"), "x.txt"],
      ] satisfies [Call, string][]) {
        if (!isConditional) return;
        await drive.open();
        const { error } = await drive.keep(call, () => drive.write(path, "THEIRS"));
        expect(error, JSON.stringify(call)).toMatchObject({ status: 409, code: "conflict" });
        expect(await drive.read(path)).toBe("THEIRS");
      }
    });
  });
}

/** Where a call puts something. */
function findPlace([, { path, destination, folder, name }]: Call): unknown {
  return destination ?? path ?? (folder === "" ? name : `${folder}/${name}`);
}

function pickFiles(all: Readonly<Record<string, string>>) {
  return Object.fromEntries(Object.entries(all).filter(([path]) => !path.endsWith("/")));
}

/** What an answer says beside where an old version is, and when a thing was last changed. */
function pickFacts({ old_version, modified, ...facts }: Readonly<Record<string, unknown>> = {}) {
  return facts;
}
