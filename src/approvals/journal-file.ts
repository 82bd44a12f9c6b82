import { randomBytes } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, readFile, unlink } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { type JournalKey, type JournalRecord, readJournalRecord, toMapKey } from "./journal-record.ts";

const forgottenSchema = z.object({ callId: z.string(), fingerprint: z.string(), forgotten: z.literal(true) });

/** Files this process writes now: a container gives every process the same id, so the id alone does not tell. */
const openNames = new Set<string>();

type Forgotten = JournalKey & { readonly forgotten: true };

interface Segment {
  readonly records: Map<string, JournalRecord>;
  readonly damagedLines: number;
}

interface FolderContent {
  readonly found: Map<string, JournalRecord>;
  /** Files whose process has ended, with the records they hold. */
  readonly ended: readonly { readonly path: string; readonly keys: ReadonlySet<string> }[];
  readonly damagedLines: number;
}

const NAME = /^journal-(?<host>[a-z0-9]+)-(?<pid>\d+)-[a-f0-9]+\.jsonl$/;

/** The journal on disk: the own file of this process, after merging those of processes that have ended. */
export class JournalFile {
  /** Every record found at opening, of running processes too. */
  readonly records: readonly JournalRecord[];
  readonly damagedLines: number;
  readonly #handle: FileHandle;
  readonly #name: string;
  #last: Promise<void> = Promise.resolve();

  private constructor(
    segment: { handle: FileHandle; name: string },
    records: readonly JournalRecord[],
    damagedLines: number,
  ) {
    this.#handle = segment.handle;
    this.#name = segment.name;
    this.records = records;
    this.damagedLines = damagedLines;
  }

  /** Opens a new file in `folder`; `keep` chooses the records worth carrying over. */
  static async open(
    folder: string,
    keep: (records: readonly JournalRecord[]) => JournalRecord[],
  ): Promise<JournalFile> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const { found, ended, damagedLines } = await readFolder(folder);
    const records = keep([...found.values()]);
    const carried = new Set(ended.flatMap(({ keys }) => [...keys]));
    const own = await createSegment(folder);
    await writeLines(
      own.handle,
      records.filter((record) => carried.has(toMapKey(record))),
    );
    await syncFolder(folder);
    for (const { path } of ended) await unlink(path).catch(ignoreMissing);
    return new JournalFile(own, records, damagedLines);
  }

  /** Appends one line and waits for the disk; lines of concurrent callers keep their order. */
  append(line: JournalRecord | Forgotten): Promise<void> {
    const write = this.#last.then(() => writeLines(this.#handle, [line]));
    this.#last = write.catch(() => undefined);
    return write;
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#handle.close();
    openNames.delete(this.#name);
  }
}

/** Starts again when another process merges a file away in the meantime: its records are in a new file then. */
async function readFolder(folder: string, triesLeft = 20): Promise<FolderContent> {
  const found = new Map<string, JournalRecord>();
  const ended: { path: string; keys: Set<string> }[] = [];
  let damagedLines = 0;
  for (const name of (await readdir(folder)).filter((entry) => NAME.test(entry))) {
    const path = join(folder, name);
    const segment = await readSegment(path);
    if (segment === undefined && triesLeft > 0) return readFolder(folder, triesLeft - 1);
    if (segment === undefined) continue;
    damagedLines += segment.damagedLines;
    for (const [key, record] of segment.records) {
      const known = found.get(key);
      if (known === undefined || known.at <= record.at) found.set(key, record);
    }
    if (hasEnded(name)) ended.push({ path, keys: new Set(segment.records.keys()) });
  }
  return { found, ended, damagedLines };
}

async function readSegment(path: string): Promise<Segment | undefined> {
  const records = new Map<string, JournalRecord>();
  let damagedLines = 0;
  const text = await readFile(path, "utf8").catch(ignoreMissing);
  if (text === undefined) return undefined;
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const value = parseLine(line);
    if (value === undefined) damagedLines += 1;
    else if ("forgotten" in value) records.delete(toMapKey(value));
    else records.set(toMapKey(value), value);
  }
  return { records, damagedLines };
}

function parseLine(line: string): JournalRecord | Forgotten | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  const forgotten = forgottenSchema.safeParse(value);
  if (forgotten.success) return forgotten.data;
  return readJournalRecord(value);
}

async function createSegment(folder: string): Promise<{ handle: FileHandle; name: string }> {
  const name = `journal-${hostTag()}-${process.pid}-${randomBytes(6).toString("hex")}.jsonl`;
  openNames.add(name);
  return { handle: await open(join(folder, name), "ax", 0o600), name };
}

async function writeLines(handle: FileHandle, lines: readonly unknown[]): Promise<void> {
  if (lines.length === 0) return;
  await handle.appendFile(lines.map((line) => `${JSON.stringify(line)}\n`).join(""), "utf8");
  await handle.sync();
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A file of another machine (a shared home folder) is read but never taken over. */
function hasEnded(name: string): boolean {
  const { host, pid } = NAME.exec(name)?.groups ?? {};
  if (host !== hostTag() || pid === undefined) return false;
  if (Number(pid) === process.pid) return !openNames.has(name);
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
}

function hostTag(): string {
  return (
    hostname()
      .toLowerCase()
      .replaceAll(/[^a-z0-9]/g, "") || "local"
  );
}

function ignoreMissing(error: unknown): undefined {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
  throw error;
}
