import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { type FileHandle, open, readdir, readFile, unlink } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { chooseRecord, type JournalKey, type JournalRecord, readJournalRecord, toMapKey } from "./journal-record.ts";
import { syncFolder } from "./sync-folder.ts";

const forgottenSchema = z.object({ callId: z.string(), fingerprint: z.string(), forgotten: z.literal(true) });

/**
 * Files this thread writes now, and those it has closed: a container gives every process the same id, so the id alone
 * does not tell. Known to every copy of this module, since a host may load the plugin several times.
 */
const openNames = shareNames("openJournals");
const closedNames = shareNames("closedJournals");

/** When this process began, the same in all its threads. */
const STARTED_AT = Date.now() - process.uptime() * 1_000;

function shareNames(name: string): Set<string> {
  const holder: typeof globalThis & { [key: symbol]: Set<string> | undefined } = globalThis;
  const key = Symbol.for(`svc-agent-plugin.${name}`);
  const names = holder[key] ?? new Set();
  holder[key] = names;
  return names;
}

/** Line that takes a call back. */
export type Forgotten = JournalKey & { readonly forgotten: true };

/** The file this process writes. */
export interface OwnSegment {
  readonly handle: FileHandle;
  readonly name: string;
  /** In bytes. */
  size: number;
}

interface Segment {
  readonly records: Map<string, JournalRecord>;
  readonly damagedLines: number;
}

/** What the files of a folder hold. */
interface FolderContent {
  /** Of the files whose process has ended, together. */
  readonly found: Map<string, JournalRecord>;
  /** Files whose process has ended. */
  readonly ended: readonly string[];
  readonly damagedLines: number;
}

const NAME = /^journal-(?<host>[a-z0-9]+)-(?<pid>\d+)-[a-f0-9]+\.jsonl$/;

/** True for the name of a file of a journal. */
export function isSegmentName(name: string): boolean {
  return NAME.test(name);
}

/**
 * Reads all files of a folder. Starts again when another process merges a file away in the meantime: its records are in
 * a new file then.
 */
export async function readFolder(folder: string, triesLeft = 20): Promise<FolderContent> {
  const found = new Map<string, JournalRecord>();
  const ended: string[] = [];
  let damagedLines = 0;
  for (const name of (await readdir(folder)).filter(isSegmentName)) {
    const path = join(folder, name);
    // Asked first: what a process writes before its end is read then.
    const isOver = hasEnded(folder, name);
    const segment = await readSegment(path);
    if (segment === undefined && triesLeft > 0) return readFolder(folder, triesLeft - 1);
    if (segment === undefined) continue;
    damagedLines += segment.damagedLines;
    if (!isOver) continue;
    ended.push(path);
    for (const [key, record] of segment.records) {
      const known = found.get(key);
      found.set(key, known === undefined ? record : chooseRecord(known, record));
    }
  }
  return { found, ended, damagedLines };
}

/** Undefined when there is no such file. */
export async function readSegment(path: string): Promise<Segment | undefined> {
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

/** A new file with its first lines, on disk. Nothing is left of one that cannot be written. */
export async function createSegment(folder: string, lines: readonly JournalRecord[]): Promise<OwnSegment> {
  const name = `journal-${hostTag()}-${process.pid}-${randomBytes(6).toString("hex")}.jsonl`;
  openNames.add(name);
  let handle: FileHandle | undefined;
  try {
    handle = await open(join(folder, name), "ax", 0o600);
    const size = await writeLines(handle, lines.map(toLine));
    await syncFolder(folder);
    return { handle, name, size };
  } catch (error) {
    openNames.delete(name);
    await handle?.close();
    await unlink(join(folder, name)).catch(() => undefined);
    throw error;
  }
}

/** One line of a file, with its end. Throws for what is no JSON. */
export function toLine(value: JournalRecord | Forgotten): string {
  return `${JSON.stringify(value)}\n`;
}

/** Appends lines and waits for the disk once. Returns how many bytes are on the disk now. */
export async function writeLines(handle: FileHandle, lines: readonly string[]): Promise<number> {
  if (lines.length === 0) return 0;
  const bytes = Buffer.from(lines.join(""));
  await handle.appendFile(bytes);
  await handle.sync();
  return bytes.length;
}

/** Closes a file of this process; it then counts as one whose process has ended. */
export async function closeSegment({ handle, name }: OwnSegment): Promise<void> {
  await handle.close();
  openNames.delete(name);
  closedNames.add(name);
}

/** Closes a file of this process and removes it. */
export async function removeSegment(folder: string, segment: OwnSegment): Promise<void> {
  await segment.handle.close();
  await unlink(join(folder, segment.name)).catch(() => undefined);
  openNames.delete(segment.name);
}

/**
 * True when the process of a file has ended. A file of another machine (a shared home folder), or of another thread of
 * this process, is read but never taken over.
 */
export function hasEnded(folder: string, name: string): boolean {
  const { host, pid } = NAME.exec(name)?.groups ?? {};
  if (host !== hostTag() || pid === undefined) return false;
  if (Number(pid) === process.pid) {
    return !openNames.has(name) && (closedNames.has(name) || isOlderThanProcess(join(folder, name)));
  }
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
}

/** What was written since may be what another thread writes: it knows of no names but its own. */
function isOlderThanProcess(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined || stats.mtimeMs < STARTED_AT;
}

function hostTag(): string {
  return (
    hostname()
      .toLowerCase()
      .replaceAll(/[^a-z0-9]/g, "") || "local"
  );
}

/** Undefined when there is no such file. */
export function ignoreMissing(error: unknown): undefined {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
  throw error;
}
