import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LocatedFile } from "../../../src/plugin/media/locate/locate-files.ts";
import { openByIdentity } from "../../../src/plugin/media/open/open-below-root.ts";
import { openMediaFile } from "../../../src/plugin/media/open/open-media-file.ts";
import { createMediaRoots, type MediaRoots } from "../../../src/plugin/media/open/roots.ts";
import { inspectFiles } from "../../../src/plugin/media/send/inspect-files.ts";
import { verifies } from "../../contract/verifies.ts";
import { ATTACK_TABLE, type AttackCase } from "../../fixtures/media/attack-table.ts";
import { createMediaTree, type MediaTree, SECRET } from "./media-tree.ts";

let tree: MediaTree;
let roots: MediaRoots;

beforeAll(async () => {
  tree = await createMediaTree();
  const { home, workspace } = tree;
  // Named by its link: the link and the real path are both spellings of this root.
  roots = await createMediaRoots([tree.linkToMedia, `${workspace}/media/inbound`], {
    home,
    sleep: async () => undefined,
  });
});

afterAll(async () => {
  await roots.close();
  await tree.remove();
});

async function verdictOf(reference: unknown): Promise<string> {
  const opened = await openMediaFile(roots, reference);
  if ("refused" in opened) return opened.refused;
  await opened.file.close();
  return "accept";
}

describe("the attack table", () => {
  const runnable = (one: AttackCase) => one.what !== "character device" || tree.hasDevice;

  test.each(ATTACK_TABLE.map((one) => [`${one.row}: ${one.what}`, one] as const))("row %s", async (_name, one) => {
    verifies("uploadable.local-path-confined");
    if (!runnable(one)) return console.log("Not run: a character device (this user may not make one).");
    expect(await verdictOf(one.reference(tree))).toBe(one.verdict);
  });

  test("has every row that a POSIX system can run", () => {
    const rows = new Set(ATTACK_TABLE.map(({ row }) => row));
    const elsewhere = new Map([
      [43, "read-race.test.ts"],
      [44, "send-files.test.ts"],
      [45, "locate-files.test.ts"],
      [47, "windows-paths.test.ts, as far as text decides it; the rest needs Windows"],
    ]);
    const missing = Array.from({ length: 48 }, (_, index) => index + 1).filter((row) => !rows.has(row));
    expect(missing).toEqual([...elsewhere.keys()]);
  });

  test("a refusal tells field and next step, and no path besides the caller's own", async () => {
    for (const one of ATTACK_TABLE) {
      const reference = one.reference(tree);
      if (one.verdict === "accept" || typeof reference !== "string") continue;
      const file: LocatedFile = { field: "attachments[0]", path: ["attachments", 0], reference, kind: "local" };
      const result = await inspectFiles(roots, [file]);
      const said = JSON.stringify(result);
      expect(result).toMatchObject({ ok: false, refusal: { field: "attachments[0]", hint: /\w{3}/ } });
      expect(said).not.toContain(tree.base);
      expect(said).not.toContain(SECRET);
    }
  });
});

describe("systems without /proc", () => {
  const cases = ATTACK_TABLE.filter(({ row }) => row >= 21 && row <= 25);

  test.each(cases.map((one) => [`${one.row}: ${one.what}`, one] as const))("row %s", async (_name, one) => {
    const components = String(one.reference(tree))
      .slice(tree.media.length + 1)
      .split("/");
    const wanted = one.what === "character device" && !tree.hasDevice ? "not_found" : one.verdict;
    expect(await openByIdentity(tree.media, components, "identity")).toEqual({ refused: wanted });
  });

  test("opens an ordinary file, and refuses it when others may rename its folder", async () => {
    const opened = await openByIdentity(tree.media, ["inbound", "a.png"], "identity");
    if ("refused" in opened) throw new Error(`refused: ${opened.refused}`);
    await opened.handle.close();
    const { chmod } = await import("node:fs/promises");
    await chmod(`${tree.media}/inbound`, 0o777);
    expect(await openByIdentity(tree.media, ["inbound", "a.png"], "identity")).toEqual({ refused: "unsafe_folder" });
    await chmod(`${tree.media}/inbound`, 0o755);
  });
});

describe("no usable root", () => {
  test("without any root every local file is refused", async () => {
    const none = await createMediaRoots([], { home: tree.home });
    expect(await openMediaFile(none, `${tree.media}/inbound/a.png`)).toEqual({ refused: "outside_roots" });
    expect(await openMediaFile(none, "media://inbound/a.png")).toEqual({ refused: "outside_roots" });
    expect(await openMediaFile(none, `${process.cwd()}/README.md`)).toEqual({ refused: "outside_roots" });
  });

  test("after close() every file is refused", async () => {
    const closed = await createMediaRoots([tree.media], { home: tree.home });
    await closed.close();
    expect(await openMediaFile(closed, `${tree.media}/inbound/a.png`)).toEqual({ refused: "outside_roots" });
  });
});
