import { expect } from "vitest";
import type { Roll } from "../../fixtures/content-files.ts";
import { startFakeS3 } from "../../service/files/fake-s3.ts";
import { toBucketSettings } from "../drive/bucket-settings.ts";
import { PASSWORD, startWebdav, USER } from "../drive/start-webdav.ts";
import { holdFile } from "../run-action.ts";
import { type Account, type Holdings, type Outcome, pick, sorted, type Write } from "./check-write.ts";

/** The drive is the folder `own`; beside it lies what belongs to others. */
const OWN = "own/";
const TRASH = `${OWN}.trash/`;
/** Names that are alike, that stand for something in an address, or in another program. */
const NAMES = [
  ...["a", "A", "a.txt", "a (2).txt", "a b", "\u00e4.md", "a\u0308.md", "100%", "%61", "x#y?z", "q&<q>.xml", "+1"],
  ...["it's.md", ".hidden", "日本.txt", "a.b.c", "~", "x;y", "{x}", "a,b", "(a)*!", "o'k", "[1]", "a=b", "@", "$1"],
] as [string, ...string[]];
const NEW = holdFile("new.txt", "text/plain", "new bytes");

function rollTree(roll: Roll, parents: string, depth = 0): [string, string][] {
  const names = [...new Set(Array.from({ length: 1 + roll(4) }, () => pick(roll, NAMES)))];
  const below = names.flatMap((name): [string, string][] => {
    const path = `${parents}${name}`;
    if (depth < 2 && roll(3) === 0) return rollTree(roll, `${path}/`, depth + 1);
    return [[path, `text ${roll(1_000_000)}`]];
  });
  return [[parents, ""], ...below];
}

interface Plan {
  readonly args: Record<string, unknown>;
  /** What is to be there then, but for what was put away. */
  readonly left: (things: Holdings, answer: Outcome["answer"]) => Map<string, string>;
  /** Bytes that are put away. */
  readonly lost?: readonly string[];
}

function createWrite(title: string, id: string, plan: (roll: Roll, things: Holdings) => Plan): Write {
  return {
    title,
    roll(roll) {
      const old =
        roll(2) === 0
          ? []
          : ([
              [TRASH, ""],
              [`${TRASH}1/`, ""],
              [`${TRASH}1/a`, "old"],
            ] as const);
      const things = new Map([...rollTree(roll, OWN), ...old, ...rollTree(roll, "own copy/"), ["owner", "x"]]);
      const { args, left, lost = [] } = plan(roll, things);
      return {
        things,
        call: (run) => run(id, args, { k: NEW }),
        check({ after, answer }) {
          const expected = left(things, answer);
          const added = [...after].filter(([path]) => !expected.has(path));
          const bytes = added.flatMap(([path, one]) => (path.endsWith("/") ? [] : [[path.startsWith(TRASH), one]]));
          expect(bytes).toEqual(lost.map((one) => [true, one]));
          const isAbove = (path: string) => [...after.keys()].some((one) => one !== path && one.startsWith(path));
          expect(added.filter(([path]) => path.endsWith("/") && !isAbove(path))).toEqual([]);
          expect(sorted(new Map([...after].filter(([path]) => expected.has(path))))).toEqual(sorted(expected));
        },
      };
    },
  };
}

const isTrash = (path: string) => path.startsWith(TRASH);
const listFiles = (things: Holdings) =>
  [...things.keys()].filter((path) => path.startsWith(OWN) && !path.endsWith("/") && !isTrash(path));
const listFolders = (things: Holdings) =>
  [...things.keys()].filter((path) => path.startsWith(OWN) && path.endsWith("/") && !isTrash(path));
const toArgument = (path: string) => path.slice(OWN.length).replace(/\/$/, "");
const file = { name: "new.txt", mimetype: "text/plain", s3key: "k" };

/** A file of the drive, or none. */
function pickFile(roll: Roll, things: Holdings): string {
  return pick(roll, [`${OWN}missing`, ...listFiles(things)]);
}

/** A name in one of the folders, or in a new one. */
function pickTarget(roll: Roll, things: Holdings): string {
  const folder = pick(roll, [`${OWN}new folder/`, ...listFolders(things)]);
  return `${folder}${pick(roll, NAMES)}`;
}

/** Things with those at or below one path at another. */
function renamed(things: Holdings, from: string, to: string): Map<string, string> {
  return new Map(
    [...things].map(([path, bytes]) => {
      const isMoved = path === from || path.startsWith(`${from}/`);
      return [isMoved ? `${to}${path.slice(from.length)}` : path, bytes];
    }),
  );
}

const split = (path: string) => ({ folder: path.split("/").slice(0, -1).join("/"), name: path.split("/").at(-1) });

/** Every way to write into a drive. */
export const DRIVE_WRITES: readonly Write[] = [
  ...(["error", "rename", "replace"] as const).map((if_exists) =>
    createWrite(`upload_file, if_exists: ${if_exists}`, "upload_file", (roll, things) => {
      const path = roll(2) === 0 ? pickTarget(roll, things) : pickFile(roll, things);
      const old = things.get(path);
      return {
        args: { file, ...split(toArgument(path)), if_exists },
        left(before, { path: saved }) {
          if (if_exists !== "replace") expect(before.has(OWN + saved)).toBe(false);
          if (if_exists !== "rename") expect(OWN + saved).toBe(path);
          return new Map([...before, [OWN + saved, "new bytes"]]);
        },
        lost: if_exists === "replace" && old !== undefined ? [old] : [],
      };
    }),
  ),
  createWrite("create_folder", "create_folder", (roll, things) => {
    const path = pickTarget(roll, things);
    return { args: { path: toArgument(path) }, left: (before) => new Map([...before, [`${path}/`, ""]]) };
  }),
  ...(["error", "rename", "replace"] as const).map((if_exists) =>
    createWrite(`move_file, if_exists: ${if_exists}`, "move_file", (roll, things) => {
      const isFolder = roll(3) === 0;
      const [, ...folders] = listFolders(things);
      const from = isFolder ? pick(roll, [`${OWN}missing/`, ...folders]) : pickFile(roll, things);
      const to = roll(5) === 0 ? pickFile(roll, things) : pickTarget(roll, things);
      const old = from === to ? undefined : things.get(to);
      return {
        args: { path: toArgument(from), destination: toArgument(to), if_exists },
        left(before, { path }) {
          if (if_exists !== "rename" || isFolder) expect(OWN + path).toBe(to);
          if (from !== to && if_exists !== "replace") expect(before.has(OWN + path)).toBe(false);
          const isKept = (one: string) => if_exists !== "replace" || one !== to || one === from;
          const others = new Map([...before].filter(([one]) => isKept(one)));
          return renamed(others, from.replace(/\/$/, ""), OWN + path);
        },
        lost: if_exists === "replace" && old !== undefined ? [old] : [],
      };
    }),
  ),
  createWrite("delete_file", "delete_file", (roll, things) => {
    const [, ...folders] = listFolders(things);
    const path =
      roll(3) === 0 && folders[0] !== undefined ? pick(roll, folders as [string, ...string[]]) : pickFile(roll, things);
    return {
      args: { path: toArgument(path) },
      left: (before, { trashed_to }) => renamed(before, path.replace(/\/$/, ""), OWN + trashed_to),
    };
  }),
];

/** A drive in a bucket of others. */
export async function startBucketAccount(): Promise<Account & { close(): Promise<void> }> {
  const s3 = await startFakeS3(undefined, 1000);
  return {
    settings: toBucketSettings(s3.place, "own"),
    async fill(things) {
      s3.objects.clear();
      for (const [name, bytes] of things) s3.objects.set(name, { bytes: Buffer.from(bytes), writtenAt: 0 });
    },
    look: async () => new Map([...s3.objects].map(([name, { bytes }]) => [name, bytes.toString()])),
    close: () => s3.close(),
  };
}

/** A drive in a folder of a WebDAV server. */
export async function startWebdavAccount(): Promise<Account & { close(): Promise<void> }> {
  const dav = await startWebdav();
  const root = "/dav/files";
  return {
    settings: { webdavUrl: `${dav.url}/own`, webdavUser: USER, webdavPassword: PASSWORD },
    async fill(things) {
      dav.items.clear();
      dav.items.set(root, { modified: new Date(0) });
      for (const [path, bytes] of things) {
        const isFolder = path.endsWith("/");
        const item = { modified: new Date(0), ...(isFolder ? {} : { bytes: Buffer.from(bytes) }) };
        dav.items.set(`${root}/${isFolder ? path.slice(0, -1) : path}`, item);
      }
    },
    look: async () =>
      new Map(
        [...dav.items].flatMap(([path, { bytes }]) => {
          const own = path.slice(root.length + 1);
          return own === "" ? [] : [[bytes === undefined ? `${own}/` : own, bytes?.toString() ?? ""] as const];
        }),
      ),
    close: () => dav.close(),
  };
}
