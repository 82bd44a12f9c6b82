import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { link, mkdir, mkdtemp, readFile, realpath, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openMediaFile } from "../../../src/plugin/media/open/open-media-file.ts";
import { createMediaRoots } from "../../../src/plugin/media/open/roots.ts";
import { verifies } from "../../contract/verifies.ts";

const COMPILER = "cc";
const MAKE_FIFO = "mkfifo";
const C_ATTACKER = fileURLToPath(new URL("../../fixtures/media/swap.c", import.meta.url));
const SCRIPT_ATTACKER = fileURLToPath(new URL("../../fixtures/media/swap.mjs", import.meta.url));
const READS = 34_000;
const AT_ONCE = 16;
const PUBLIC = "public bytes of the media file.......";
const SECRET = "SECRET bytes from outside the folder.";

let base: string;
let attacker: readonly [string, ...string[]];

beforeAll(async () => {
  base = await realpath(await mkdtemp(path.join(tmpdir(), "svc-race-")));
  attacker = compileAttacker();
});

afterAll(() => rm(base, { recursive: true, force: true }));

function compileAttacker(): readonly [string, ...string[]] {
  const program = path.join(base, "swap");
  try {
    execFileSync(COMPILER, ["-O2", "-o", program, C_ATTACKER], { stdio: "ignore" });
    return [program];
  } catch {
    return [process.execPath, SCRIPT_ATTACKER];
  }
}

interface Scene {
  readonly root: string;
  readonly target: string;
  /** The two names that change places. */
  readonly swap: readonly [string, string];
}

async function setScene(kind: "leaf" | "parent" | "hard link"): Promise<Scene> {
  const root = path.join(base, kind.replace(" ", "-"), "media");
  const outside = path.join(path.dirname(root), "outside");
  const inbound = path.join(root, "inbound");
  const target = path.join(inbound, "a.txt");
  await mkdir(inbound, { recursive: true });
  await mkdir(outside);
  await writeFile(target, PUBLIC);
  await writeFile(path.join(outside, "a.txt"), SECRET);
  const decoy = path.join(kind === "parent" ? root : inbound, "decoy");
  if (kind === "leaf") await symlink(path.join(outside, "a.txt"), decoy);
  if (kind === "parent") await symlink(outside, decoy);
  if (kind === "hard link") await link(path.join(outside, "a.txt"), decoy);
  return { root, target, swap: [kind === "parent" ? inbound : target, decoy] };
}

async function startAttacker([one, other]: Scene["swap"]): Promise<{ stop(): Promise<number> }> {
  const [program, ...args] = attacker;
  const child: ChildProcess = spawn(program, [...args, one, other], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout?.on("data", (text) => {
    said += String(text);
  });
  while (!said.includes("ready")) await once(child.stdout!, "data");
  return {
    async stop() {
      const closed = once(child, "close");
      child.kill("SIGTERM");
      await closed;
      return Number(said.trim().split("\n").at(-1));
    },
  };
}

/** Runs `read` until `count` results are there, several at once, and counts equal results. */
async function tally(count: number, read: () => Promise<string>): Promise<Record<string, number>> {
  const seen: Record<string, number> = {};
  let left = count;
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      const result = await read();
      seen[result] = (seen[result] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return seen;
}

/** What most upload code does: check by path, then read by path. */
async function readNaively(root: string, target: string): Promise<string> {
  try {
    if (!(await realpath(target)).startsWith(`${root}/`) || !(await stat(target)).isFile()) return "refused";
    return await readFile(target, "utf8");
  } catch {
    return "refused";
  }
}

/** The control: shows that this attacker, here and now, beats a reader that looks before it reads. */
async function leakOnce(scene: Scene): Promise<{ reads: number; secrets: number }> {
  for (let reads = 3_000; ; reads += 3_000) {
    const seen = await tally(3_000, () => readNaively(scene.root, scene.target));
    const secrets = seen[SECRET] ?? 0;
    if (secrets > 0 || reads >= 90_000) return { reads, secrets };
  }
}

describe("a file swapped while it is read (row 43)", () => {
  test.each(["leaf", "parent", "hard link"] as const)("%s: never the secret", { timeout: 180_000 }, async (kind) => {
    verifies("uploadable.local-path-confined");
    const scene = await setScene(kind);
    const roots = await createMediaRoots([scene.root], { sleep: async () => undefined });
    const read = async () => {
      const opened = await openMediaFile(roots, scene.target);
      if ("refused" in opened) return opened.refused;
      const bytes = Buffer.alloc(opened.file.size);
      await opened.file.read(bytes, 0);
      const unchanged = await opened.file.isUnchanged();
      await opened.file.close();
      return unchanged || bytes.toString() === SECRET ? bytes.toString() : "changed_while_reading";
    };
    const attack = await startAttacker(scene.swap);
    const naive = await leakOnce(scene);
    const ours = await tally(READS, read);
    const swaps = await attack.stop();
    await roots.close();

    const { [PUBLIC]: good = 0, [SECRET]: leaked = 0, ...refusals } = ours;
    console.log(
      `race ${kind}: ${READS} reads, ${swaps} swaps, ${good} good, refused ${JSON.stringify(refusals)}, ` +
        `secrets ${leaked}; a reader by path: ${naive.secrets} secrets in ${naive.reads} reads`,
    );
    expect(naive.secrets).toBeGreaterThan(0);
    expect(leaked).toBe(0);
    expect(good).toBeGreaterThan(0);
    expect(Object.values(refusals).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
    expect(Object.values(ours).reduce((sum, count) => sum + count, 0)).toBe(READS);
  });
});

test("a FIFO in the folder does not hold up other reads", async () => {
  const root = path.join(base, "fifo");
  await mkdir(root);
  execFileSync(MAKE_FIFO, [path.join(root, "pipe.txt")]);
  await writeFile(path.join(root, "other.txt"), PUBLIC);
  const roots = await createMediaRoots([root]);
  // More than the four threads Node reads files with.
  const pipes = Array.from({ length: 12 }, () => openMediaFile(roots, path.join(root, "pipe.txt")));
  expect(await readFile(path.join(root, "other.txt"), "utf8")).toBe(PUBLIC);
  expect(new Set((await Promise.all(pipes)).map((one) => "refused" in one && one.refused))).toEqual(
    new Set(["not_regular"]),
  );
  await roots.close();
});
