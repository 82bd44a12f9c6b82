import { Readable } from "node:stream";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createDriveIntegration } from "../../../src/apps/drive/drive-integration.ts";
import type { HeldFile } from "../../../src/apps/port/integration.ts";
import { ServiceError } from "../../../src/service/service-error.ts";
import { createPreviewer, createRunner, holdFile, refusal } from "../run-action.ts";
import type { DriveHost } from "./describe-drive.ts";
import { type Args, type Call, calls, FILE, files, move, upload } from "./drive-calls.ts";
import { openDriveHand } from "./drive-hand.ts";

/** What somebody else does before the call runs. */
const meddling = fc.constantFrom("none", "any", "source", "source", "target", "target");

/**
 * What every drive does alike with changes that somebody saw before.
 *
 * @param o.runs of changes by somebody else between showing and running
 * @param o.isConditional false for a server that knows no conditions
 */
export function describeDriveChanges(
  name: string,
  start: () => Promise<DriveHost>,
  { runs, isConditional = true }: { readonly runs: number; readonly isConditional?: boolean },
): void {
  describe(`changes of a drive that are shown before: ${name}`, () => {
    const integration = createDriveIntegration();
    let host: DriveHost;
    let settings: Readonly<Record<string, unknown>>;
    beforeAll(async () => {
      host = await start();
    });
    afterAll(async () => {
      await integration.close?.();
      await host?.close();
    });
    const open = async () => {
      settings = await host.open();
    };
    const preview = (action: string, args: Args) =>
      createPreviewer(integration, { settings, files, now: Date.now })(action, args);
    const run = (action: string, args: Args, expectedState?: string, own: Record<string, HeldFile> = files) =>
      createRunner(integration, { settings, now: Date.now, ...(expectedState && { expectedState }) })(
        action,
        args,
        own,
      );
    const { write, readAll } = openDriveHand((action, args, own) => run(action, args, undefined, own));

    describe("say", () => {
      beforeEach(async () => {
        await open();
        await write("a/x.txt", "one\ntwo\nthree\n");
        for (let at = 10; at < 22; at++) await write(`Photos/p${at}.jpg`, "12345678");
      });

      it("what is saved, and where", async () => {
        const shown = await preview(...upload("a/2026/11", "x.txt"));
        expect(shown).toMatchObject({
          summary: 'Save "x.txt" in "a/2026/11" of "Test" (14 bytes)',
          objects: [
            { kind: "file", name: "x.txt", details: expect.arrayContaining([{ label: "Size", value: "14 bytes" }]) },
          ],
          changes: [{ field: "Text", diff: "@@ -0,0 +1,3 @@\n+one\n+new\n+three" }],
        });
        expect(shown.effects.map(({ text }) => text)).toEqual(['New folder: "a/2026".', 'New folder: "a/2026/11".']);
        const renamed = await preview(...upload("a", "x.txt", "rename"));
        expect(renamed.summary).toBe('Save "x (2).txt" in "a" of "Test" (14 bytes)');
        expect(renamed.effects).toMatchObject([{ code: "renames" }]);
      });

      it("what is replaced, line by line", async () => {
        expect(await preview(...upload("a", "x.txt", "replace"))).toMatchObject({
          summary: 'Replace "x.txt" in "Test" (1 line gone, 1 new)',
          objects: [{ name: "x.txt", details: expect.arrayContaining([{ label: "Folder", value: "a" }]) }],
          changes: [{ field: "Text", diff: "@@ -1,3 +1,3 @@\n one\n-two\n+new\n three" }],
          effects: [
            { code: "replaces", text: expect.stringMatching(/^The file "x.txt", last changed 2.* UTC, is rep/) },
          ],
          undo: { possible: true },
        });
        const args = { file: { ...FILE, mimetype: "image/png" }, folder: "a", name: "x.txt", if_exists: "replace" };
        const unknown = { k: { name: "x.png", mimetype: "image/png" } };
        const look = createPreviewer(integration, { settings, files: unknown as never, now: Date.now });
        const { summary, changes } = await look("upload_file", args);
        expect([summary, changes]).toEqual([
          'Replace "x.txt" in "Test" (14 bytes, now size unknown)',
          [
            { field: "Replaced text", diff: "@@ -1,3 +0,0 @@\n-one\n-two\n-three" },
            { field: "Size", before: "14 bytes", after: "size unknown" },
          ],
        ]);
      });

      it("what is moved, and over what", async () => {
        const moved = await preview(...move("a/x.txt", "a/x 1.txt"));
        expect([moved.summary, moved.changes]).toEqual([
          'Rename "x.txt" to "x 1.txt" in "Test"',
          [{ field: "Name", before: "x.txt", after: "x 1.txt" }],
        ]);
        const over = await preview(...move("a/x.txt", "Photos/p10.jpg", "replace"));
        expect(over).toMatchObject({
          summary: 'Move "x.txt" to "Photos" in "Test", replacing a file',
          objects: [{ name: "x.txt" }, { name: "p10.jpg" }],
          effects: [{ code: "replaces" }],
        });
        const hidden = await preview(...move("Photos", ".old/Photos"));
        expect(hidden.summary).toBe('Move "Photos" (12 files) to ".old" in "Test"');
        expect(hidden.effects.map(({ code }) => code)).toEqual(["creates_folder", "hides", "moves_many"]);
      });

      it("what is deleted, with all that is in it", async () => {
        const shown = await preview("delete_file", { path: "Photos" });
        expect(shown).toMatchObject({
          summary: 'Delete the folder "Photos" (12 files) from "Test"',
          objectCount: 13,
          effects: [{ code: "moves_to_trash" }, { code: "moves_many", text: "With the folder go 12 files." }],
        });
        expect(shown.objects).toHaveLength(10);
        expect(shown.objects.slice(0, 2)).toMatchObject([
          { kind: "folder", details: expect.arrayContaining([{ label: "Size", value: "96 bytes" }]) },
          { kind: "file", name: "p10.jpg" },
        ]);
        expect((await preview("delete_file", { path: "a/x.txt" })).summary).toBe('Delete the file "x.txt" from "Test"');
      });

      it("which folders are new", async () => {
        const { summary, effects } = await preview("create_folder", { path: "a/2026/11" });
        expect(summary).toBe('Create the folder "a/2026/11" in "Test"');
        expect(effects).toHaveLength(2);
        expect((await preview("create_folder", { path: "a" })).summary).toBe('Leave the folder "a" in "Test" as it is');
      });

      it("what cannot be, as the change itself does", async () => {
        for (const [action, args] of [
          upload("a", "x.txt"),
          upload("", "a", "replace"),
          upload("a/x.txt", "y.txt"),
          move("none.txt", "b.txt"),
          move("a/x.txt", "Photos/p10.jpg"),
          move("a", "a/b/c"),
          move("a", "Photos", "rename"),
          move("Photos/p10.jpg", ".trash/p10.jpg"),
          ["delete_file", { path: "none" }],
          ["delete_file", { path: ".trash/x" }],
          ["create_folder", { path: "a/x.txt" }],
        ] satisfies Call[]) {
          const [before, after] = [
            await refusal(preview(action, args)),
            await refusal(run(action, args, undefined, files)),
          ];
          expect([before.status, before.code], JSON.stringify(args)).toEqual([after.status, after.code]);
        }
      });
    });

    /** Every change between showing and running. */
    it("act on nothing that was not shown", async () => {
      const counts = { same: 0, refused: 0, impossible: 0 };
      await fc.assert(
        fc.asyncProperty(calls, calls, meddling, async ([action, args], [theirs, theirArgs], kind) => {
          const isQuiet = kind === "none";
          await open();
          for (const path of ["x.txt", "a/x.txt", "a/b/y.txt"]) await write(path, `${path}\n`);
          const shown = await preview(action, args).catch(toRefusal);
          const first = pickTouched(await readAll(), args);
          const other = { k: holdFile("w.txt", "text/plain", "theirs") };
          if (kind === "any") await run(theirs, theirArgs, undefined, other).catch(toRefusal);
          if (kind === "source" || kind === "target") await write(findFile(args, kind), "theirs").catch(toRefusal);
          const before = await readAll();
          const again = await preview(action, args).catch(toRefusal);
          expect(await readAll()).toEqual(before);
          if (shown instanceof ServiceError) {
            counts.impossible += 1;
            return;
          }
          const done = await run(action, args, shown.state).catch(toRefusal);
          const isSame = !(again instanceof ServiceError) && again.state === shown.state;
          counts[isSame ? "same" : "refused"] += 1;
          if (isSame) expect(pickTouched(before, args)).toEqual(first);
          expect(done instanceof ServiceError, JSON.stringify([action, args, theirs, theirArgs, done])).toBe(!isSame);
          if (!isSame) expect(await readAll()).toEqual(before);
          else if (isQuiet) expect(again).toEqual(shown);
        }),
        { numRuns: runs },
      );
      console.log(`${name}: ${JSON.stringify(counts)}`);
      expect(counts.refused).toBeGreaterThan(runs / 10);
    });

    it.runIf(isConditional).each(["x.txt", "n.txt"])(
      "see that somebody writes %s while its bytes come",
      async (path) => {
        await open();
        await write("x.txt", "before");
        const [action, args] = upload("", path, "replace");
        const { state } = await preview(action, args);
        async function* bytes() {
          await write(path, "THEIRS");
          yield* files.k.open();
        }
        const slow = { k: { ...files.k, open: () => Readable.from(bytes()) } };
        expect(await refusal(run(action, args, state, slow))).toMatchObject({ status: 412, code: "state_changed" });
        expect((await readAll())[path]).toBe("THEIRS");
      },
    );

    it.each([
      ["the file that is deleted", ["delete_file", { path: "x.txt" }], "x.txt"],
      ["a file in the folder that is deleted", ["delete_file", { path: "a" }], "a/b/y.txt"],
      ["the file that is replaced", upload("", "x.txt", "replace"), "x.txt"],
      ["the file that is moved", move("x.txt", "z.txt"), "x.txt"],
      ["the file that is moved over", move("a/x.txt", "x.txt", "replace"), "x.txt"],
      ["the name that a new file gets", upload("", "n.txt"), "n.txt"],
      ["the name that a new file gets beside another one", upload("", "x.txt", "rename"), "x (2).txt"],
      ["the name of a moved file", move("x.txt", "n.txt"), "n.txt"],
    ] satisfies [string, Call, string][])("see that somebody changed %s", async (_, [action, args], path) => {
      await open();
      for (const one of ["x.txt", "a/x.txt", "a/b/y.txt"]) await write(one, `${one}\n`);
      const { state } = await preview(action, args);
      await write(path, "THEIRS");
      const before = await readAll();
      const refused = await refusal(run(action, args, state));
      expect(["state_changed", "invalid_field_value"], refused.message).toContain(refused.code);
      expect(await readAll()).toEqual(before);
    });
  });
}

function toRefusal(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  throw error;
}

function findTarget({ path, destination, folder, name }: Args): unknown {
  return destination ?? path ?? (folder === "" ? name : `${folder}/${name}`);
}

/** A file that a call reads or changes. */
function findFile(args: Args, kind: "source" | "target"): string {
  const path = kind === "source" && args.path !== undefined ? args.path : findTarget(args);
  return path === "a" || path === undefined ? "a/x.txt" : String(path);
}

/** What a call reads or changes, out of everything: a source with all that is in it, and what has the name of a target. */
function pickTouched(all: Readonly<Record<string, string>>, args: Args) {
  const { path } = args;
  const target = findTarget(args);
  return Object.entries(all).flatMap(([one, text]) => {
    if (one === path || one.startsWith(`${path}/`)) return [[one, text]];
    if (one !== target && one !== `${target}/`) return [];
    // What keeps its name is not touched.
    return [[one, args.if_exists === "rename" ? "" : text]];
  });
}
