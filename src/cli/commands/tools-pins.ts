import { join } from "node:path";
import type { ToolCatalog } from "../../calls/catalog/catalog.ts";
import type { CatalogEntry } from "../../calls/catalog/catalog-entry.ts";
import { openPins, type PinChange, type Pins } from "../../calls/catalog/pins.ts";
import { SvcError } from "../../errors.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { withCatalog } from "../open-session.ts";
import type { Terminal } from "../terminal.ts";

interface PinFlags {
  readonly baseUrl?: string;
  readonly integration?: string;
  readonly pin?: true;
  readonly pinFile?: string;
}

const PARALLEL = 8;

/** `svc tools --pin` and `--check`: every tool is described again, past the cache. */
export async function comparePins(context: CliContext, flags: PinFlags): Promise<number> {
  if (flags.integration !== undefined) {
    throw new SvcError("invalid_config", "--integration cannot be combined with --pin or --check.", {
      field: "--integration",
      hint: "The pins always cover every tool of the account.",
    });
  }
  return withCatalog(context, { ...flags, cached: false }, async (catalog, client) => {
    const file = flags.pinFile ?? join(context.places.state, "tools.lock.json");
    const pins = await openPins({ file, mode: undefined, service: client.baseUrl, now: Date.now });
    const report = await catalog.sync({ signal: context.signal });
    for (const { integration, count } of report.omitted) {
      context.terminal.say(
        `${count} more tools${integration ? ` of ${integration}` : ""} are not listed, so not pinned.`,
      );
    }
    const entries = await describeAll(context, catalog);
    return flags.pin === true
      ? await pinAll(context.terminal, pins, entries, file)
      : showChanges(context.terminal, pins, entries);
  });
}

async function describeAll(context: CliContext, catalog: ToolCatalog): Promise<CatalogEntry[]> {
  const names = catalog.list().map(({ name }) => name);
  const queue = [...names];
  const work = async () => {
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      context.signal.throwIfAborted();
      await catalog.find(name);
      context.terminal.progress(`  describing, ${names.length - queue.length} of ${names.length}`);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  context.terminal.endProgress();
  return [...catalog.list()];
}

async function pinAll(terminal: Terminal, pins: Pins, entries: readonly CatalogEntry[], file: string): Promise<number> {
  await pins.pin(entries);
  const acting = entries.filter(({ effect }) => effect !== "read").length;
  const text = `Pinned ${entries.length} tools, ${acting} of which may act, in ${file}. New or changed ones are asked about.`;
  terminal.answer({ pinned: entries.length, acting, file }, () => text);
  return EXIT.ok;
}

function showChanges(terminal: Terminal, pins: Pins, entries: readonly CatalogEntry[]): number {
  if (pins.mode === "off") {
    throw new SvcError("invalid_config", "Nothing is pinned yet.", { hint: 'Run "svc tools --pin" first.' });
  }
  const changes = pins.check(entries);
  terminal.answer(changes, () =>
    changes.length === 0 ? "Every tool that may act is as it was pinned." : changes.map(formatChange).join("\n"),
  );
  return changes.some(({ kind }) => kind !== "gone") ? EXIT.failed : EXIT.ok;
}

function formatChange({ tool, kind, effect, reason }: PinChange): string {
  return `${kind.padEnd(7)}  ${effect.padEnd(7)}  ${tool}: ${reason}`;
}
