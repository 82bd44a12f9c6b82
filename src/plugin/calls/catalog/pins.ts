import { readFileSync, statSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { replaceFile } from "../../../shared/base/disk.ts";
import { hasCode } from "../../../shared/base/error-code.ts";
import { parseJson } from "../../../shared/base/json.ts";
import { withWriteLock } from "../../../shared/base/write-lock.ts";
import { SIDE_EFFECT_LEVELS } from "../../../shared/wire/catalog.ts";
import type { CatalogEntry } from "./catalog-entry.ts";

/** off: not compared · report: told to the host · ask: a human must agree before the first call. */
export type PinMode = "off" | "report" | "ask";

/** A difference between a tool and its pin. */
export interface PinChange {
  readonly tool: string;
  /** new: has no pin · changed: effect or schema differs · gone: pinned, and not listed any more. */
  readonly kind: "new" | "changed" | "gone";
  readonly effect: CatalogEntry["effect"];
  /** One sentence for the human, without the tool's own words. */
  readonly reason: string;
}

type Pinned = Pick<CatalogEntry, "name" | "effect" | "schemaHash">;

/** The tools a human has agreed to, by name, effect and schema. Only tools that may act are compared. */
export interface Pins {
  /** The current mode: without a setting it depends on whether the file exists. */
  readonly mode: PinMode;
  /** Set when the file cannot be used: then every tool that may act counts as new, and the file is not changed. */
  readonly problem: string | undefined;
  /** Undefined for an unchanged tool, for a plain read, and when nothing is compared. */
  judge(entry: Pinned): PinChange | undefined;
  /** {@link judge} for a whole list, and the pinned tools missing from it. */
  check(entries: readonly Pinned[]): PinChange[];
  /** Records that a human agreed to the tool in its current form. */
  accept(entry: Pinned): Promise<void>;
  /** Pins exactly these tools, replacing the file. */
  pin(entries: readonly Pinned[]): Promise<void>;
}

interface PinOptions {
  /** JSON, mode 0600 when made here, sorted by name; made to be kept under version control. Without one: memory. */
  readonly file: string | undefined;
  /** Default: `ask` when the file is there, else `off`. */
  readonly mode: PinMode | undefined;
  readonly service: string;
  readonly now: () => number;
}

/**
 * Opens the pins. Never throws for a damaged file: see {@link Pins.problem}. Each lookup checks the file, so that
 * changes or a deletion by another process take effect at once.
 */
export async function openPins(options: PinOptions): Promise<Pins> {
  const { file, service } = options;
  let held: PinFile["tools"] = {};
  const look = file === undefined ? (): PinReading => ({ kind: "missing" }) : createPinReader(file, service);
  const read = (): { tools: PinFile["tools"]; mode: PinMode; problem: string | undefined } => {
    const reading = look();
    const isMissing = reading.kind === "missing";
    const mode = options.mode ?? (isMissing ? "off" : "ask");
    if (reading.kind === "found") return { tools: reading.tools, mode, problem: undefined };
    // Without a file, agreements are kept for this process.
    const tools = isMissing && file !== undefined ? {} : held;
    return { tools, mode, problem: isMissing ? undefined : reading.reason };
  };
  const write = async (changed: PinFile["tools"]) => {
    held = changed;
    if (file === undefined) return;
    const sorted = Object.fromEntries(Object.entries(changed).sort(([a], [b]) => (a < b ? -1 : 1)));
    const pinnedAt = new Date(options.now()).toISOString();
    await replaceFile(file, `${JSON.stringify({ version: 1, service, pinnedAt, tools: sorted }, null, 2)}\n`);
  };
  const inTurn = takeTurns(file);
  const compare = (entry: Pinned) => {
    const { tools, problem } = read();
    return comparePin(entry, Object.hasOwn(tools, entry.name) ? tools[entry.name] : undefined, problem);
  };
  return {
    get mode() {
      return read().mode;
    },
    get problem() {
      return read().problem;
    },
    judge: (entry) => (read().mode === "off" ? undefined : compare(entry)),
    check(entries) {
      const names = new Set(entries.map(({ name }) => name));
      return [...entries.flatMap((entry) => compare(entry) ?? []), ...listGone(read().tools, names)];
    },
    async accept(entry) {
      if (read().problem !== undefined) held = { ...held, [entry.name]: toPin(entry) };
      // Another process may have added to the file since.
      else await inTurn(() => write({ ...read().tools, [entry.name]: toPin(entry) }));
    },
    pin: (entries) => inTurn(() => write(Object.fromEntries(entries.map((entry) => [entry.name, toPin(entry)])))),
  };
}

/** Serialises changes to one file, within this process and across processes, so that none is lost. */
function takeTurns(file: string | undefined): (change: () => Promise<void>) => Promise<void> {
  const alone = async (change: () => Promise<void>): Promise<void> => {
    if (file === undefined) return change();
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await withWriteLock(`${file}.lock`, change, { field: "stateDir" });
  };
  let last: Promise<void> = Promise.resolve();
  return (change) => {
    const changed = last.then(() => alone(change));
    last = changed.catch(() => undefined);
    return changed;
  };
}

function listGone(tools: PinFile["tools"], names: ReadonlySet<string>): PinChange[] {
  return Object.entries(tools)
    .filter(([name, { effect }]) => effect !== "read" && !names.has(name))
    .map(([tool, { effect }]) => ({ tool, kind: "gone", effect, reason: "It is not offered any more." }));
}

function comparePin(
  entry: Pinned,
  pinned: PinFile["tools"][string] | undefined,
  problem: string | undefined,
): PinChange | undefined {
  const { name: tool, effect } = entry;
  if (pinned === undefined) {
    if (effect === "read") return undefined;
    const reason = problem ?? "This tool is new: it was not there when the tools were pinned.";
    return { tool, kind: "new", effect, reason };
  }
  if (effect === "read" && pinned.effect === "read") return undefined;
  const isSameSchema = entry.schemaHash === undefined || entry.schemaHash === pinned.schemaHash;
  if (effect === pinned.effect && isSameSchema) return undefined;
  const what = effect === pinned.effect ? "its arguments" : `its effect (${pinned.effect} before, ${effect} now)`;
  return { tool, kind: "changed", effect, reason: `This tool has changed since it was pinned: ${what}.` };
}

const pinSchema = z.object({
  effect: z.enum([...SIDE_EFFECT_LEVELS, "unknown"]),
  schemaHash: z.string().optional(),
});
const fileSchema = z.object({
  version: z.literal(1),
  service: z.string(),
  pinnedAt: z.string(),
  tools: z.record(z.string(), pinSchema),
});

type PinFile = z.infer<typeof fileSchema>;

/** The result of reading the file: `damaged` explains in a sentence why it cannot be used. */
type PinReading =
  | { readonly kind: "found"; readonly tools: PinFile["tools"] }
  | { readonly kind: "missing" }
  | { readonly kind: "damaged"; readonly reason: string };

const UNREADABLE = describeDamage("The file of pinned tools cannot be read");

function describeDamage(what: string): PinReading {
  return { kind: "damaged", reason: `${what}, so this tool counts as new.` };
}

/**
 * Returns a function that reads the pins of `service` from a file, synchronously. The file is parsed only if its time,
 * size or inode changed, so that pins of another process take effect at once.
 */
function createPinReader(file: string, service: string): () => PinReading {
  let stamp: string | undefined;
  let reading: PinReading = { kind: "missing" };
  return () => {
    const current = readStamp(file);
    if (current === undefined || current !== stamp) {
      reading = current === undefined ? UNREADABLE : current === "" ? { kind: "missing" } : readPinFile(file, service);
      stamp = current;
    }
    return reading;
  };
}

/** Empty when there is no file; undefined when its status cannot be read. */
function readStamp(file: string): string | undefined {
  try {
    const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? "" : `${stats.mtimeNs}:${stats.size}:${stats.ino}`;
  } catch {
    return undefined;
  }
}

function readPinFile(file: string, service: string): PinReading {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    return hasCode(error, "ENOENT") ? { kind: "missing" } : UNREADABLE;
  }
  const parsed = fileSchema.safeParse(parseJson(text));
  if (!parsed.success) return describeDamage("The file of pinned tools is damaged");
  if (parsed.data.service !== service) return describeDamage("The pinned tools are those of another service");
  return { kind: "found", tools: parsed.data.tools };
}

function toPin({ effect, schemaHash }: Pick<CatalogEntry, "effect" | "schemaHash">): PinFile["tools"][string] {
  return schemaHash === undefined ? { effect } : { effect, schemaHash };
}
