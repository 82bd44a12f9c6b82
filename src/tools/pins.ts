import { replaceFile } from "../approvals/replace-file.ts";
import { takeTurns } from "../approvals/take-turns.ts";
import type { CatalogEntry } from "./catalog-entry.ts";
import { createPinReader, type PinFile, type PinReading, toPin } from "./pin-file.ts";

/** off: not compared · report: told to the host · ask: a human must agree before the first call. */
export type PinMode = "off" | "report" | "ask";

/** How a tool differs from what was pinned. */
export interface PinChange {
  readonly tool: string;
  readonly kind: "new" | "changed" | "gone";
  readonly effect: CatalogEntry["effect"];
  /** One sentence for the human, without the tool's own words. */
  readonly reason: string;
}

/** What a pin is compared with. */
type Pinned = Pick<CatalogEntry, "name" | "effect" | "schemaHash">;

/** The tools a human has agreed to, by name, effect and schema. Only tools that may act are compared. */
export interface Pins {
  /** As of now: without a setting it follows the file. */
  readonly mode: PinMode;
  /** Set when the file cannot be used: every tool that may act counts as new then, and the file is left alone. */
  readonly problem: string | undefined;
  /** Undefined for a tool as it was pinned, for a plain read, and when nothing is compared. */
  judge(entry: Pinned): PinChange | undefined;
  /** {@link judge} for a whole list, and the pinned tools that are not in it any more. */
  check(entries: readonly Pinned[]): PinChange[];
  /** A human agreed to the tool as it is now. */
  accept(entry: Pinned): Promise<void>;
  /** Pins exactly these tools, replacing the file. */
  pin(entries: readonly Pinned[]): Promise<void>;
}

/** Settings of {@link openPins}. */
export interface PinOptions {
  /** JSON, mode 0600 when made here, sorted by name; made to be kept under version control. Without one: memory. */
  readonly file: string | undefined;
  /** Default: `ask` when the file is there, else `off`. */
  readonly mode: PinMode | undefined;
  /** Base URL of the service the pins are for. */
  readonly service: string;
  readonly now: () => number;
}

/**
 * Opens the pins. Never throws for a damaged file: see {@link Pins.problem}. The file is looked at anew for every answer:
 * what another process pins, or takes back by deleting it, counts at once.
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
    // What was agreed to counts for this process when there is no file to write it to.
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
