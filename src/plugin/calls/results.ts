import { randomBytes } from "node:crypto";
import { readdir, readFile, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "../../shared/base/disk.ts";
import { cutText } from "../../shared/base/text.ts";
import { toSafeJson } from "./outcome.ts";

const REF = /^r[a-f0-9]{20}$/;
const KEEP = 50;
const KEEP_MS = 7 * 24 * 60 * 60 * 1_000;
const MAX_PAGE = 24_000;

/** A part of a stored result's JSON text. */
export interface ResultPage {
  readonly ref: string;
  /** In characters, from 0. */
  readonly offset: number;
  readonly text: string;
  /** Characters of the whole text. */
  readonly total: number;
  /** Offset of the next part; undefined for the last. */
  readonly nextOffset: number | undefined;
}

/** A part to read, in characters from 0. */
export interface ResultQuery {
  readonly ref: string;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}

/** A result inside an outcome: whole, or its first part and a reference to the rest. */
type CappedResult =
  | { readonly result: unknown }
  | { readonly resultRef: string; readonly resultPreview: string; readonly resultSize: number };

/** Results too large for an outcome, to be read in parts. */
export interface ResultStore {
  /** The result itself when its JSON text is short enough, else a stored copy and its beginning. */
  cap(result: unknown): Promise<CappedResult>;
  /** Undefined when the reference is unknown or its result was dropped. Offset and limit are clamped. */
  read(page: ResultQuery): Promise<ResultPage | undefined>;
}

/**
 * Creates the store: files in `folder` (0600), or memory without one. The last 50 results are kept, for a week.
 * `maxChars` is the longest JSON text that is not stored; default 24,000.
 */
export function createResultStore({
  folder,
  maxChars = MAX_PAGE,
  now,
}: {
  folder: string | undefined;
  maxChars: number | undefined;
  now: () => number;
}): ResultStore {
  const memory = new Map<string, string>();
  const keep = async (ref: string, text: string) => {
    if (folder === undefined) {
      memory.set(ref, text);
      const oldest = memory.keys().next();
      if (memory.size > KEEP && oldest.done !== true) memory.delete(oldest.value);
      return;
    }
    await replaceFile(join(folder, `${ref}.json`), text);
    await dropOld(folder, now());
  };
  const load = async (ref: string) => {
    if (folder === undefined) return memory.get(ref);
    return readFile(join(folder, `${ref}.json`), "utf8").catch(() => undefined);
  };
  return {
    async cap(result) {
      const text = toSafeJson(result);
      if (text.length <= maxChars) return { result };
      const ref = `r${randomBytes(10).toString("hex")}`;
      await keep(ref, text);
      return { resultRef: ref, resultPreview: cutText(text, maxChars), resultSize: text.length };
    },
    async read({ ref, offset = 0, limit = MAX_PAGE }) {
      if (!REF.test(ref)) return undefined;
      const text = await load(ref);
      if (text === undefined) return undefined;
      const start = Math.min(toCount(offset), text.length);
      const part = cutText(text.slice(start), Math.min(Math.max(2, toCount(limit)), MAX_PAGE));
      const end = start + part.length;
      return { ref, offset: start, text: part, total: text.length, nextOffset: end < text.length ? end : undefined };
    },
  };
}

function toCount(value: number): number {
  return Number.isFinite(value) ? Math.max(0, Math.trunc(value)) : 0;
}

async function dropOld(folder: string, now: number): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".json"));
  const files = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      const found = await stat(path).catch(() => undefined);
      return { path, at: found?.mtimeMs ?? 0 };
    }),
  );
  files.sort((a, b) => b.at - a.at);
  const old = files.filter((file, index) => index >= KEEP || now - file.at > KEEP_MS);
  await Promise.all(old.map((file) => unlink(file.path).catch(() => undefined)));
}
