import { join } from "node:path";
import type { SyncReport, ToolCatalog } from "../../calls/catalog/catalog.ts";
import type { CatalogEntry } from "../../calls/catalog/catalog-entry.ts";
import { openPins, type PinChange, type Pins } from "../../calls/catalog/pins.ts";
import { SvcError } from "../../errors.ts";
import { toPlainText } from "../../wire/plain-text.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { withCatalog } from "../open-session.ts";
import { wholeNumber } from "../settings.ts";
import { measureLastColumn, type Terminal } from "../terminal.ts";

/** Characters of a description in lists. */
const SENTENCE = { shortest: 24, longest: 100 } as const;

interface ToolsFlags {
  readonly baseUrl?: string;
  readonly integration?: string;
  readonly pin?: true;
  readonly check?: true;
  readonly pinFile?: string;
}

/** `svc tools`: every tool of the paired account, grouped by integration; pins them or compares them with the pins. */
export async function tools(context: CliContext, flags: ToolsFlags): Promise<number> {
  const { terminal } = context;
  if (flags.pin === true || flags.check === true) return comparePins(context, flags);
  return withCatalog(context, { ...flags, cached: true }, async (catalog) => {
    const { integration: only } = flags;
    const report = await catalog.sync({
      ...(only === undefined ? {} : { integrations: [only] }),
      onProgress: ({ tools: count }) => terminal.progress(`  reading the tool list, ${count} so far`),
      signal: context.signal,
    });
    terminal.endProgress();
    const found = catalog.list().filter(({ integration }) => only === undefined || integration === only);
    terminal.answer(found.map(toJson), () => formatTools(terminal, found));
    if (found.length === 0 && only !== undefined) {
      terminal.say(`No connected app is called "${only}" or it has no tools. "svc tools" lists all.`);
      return EXIT.failed;
    }
    sayOmitted(terminal, report, 'were not listed; "svc search" finds them');
    if (!terminal.json && found.length > 0) terminal.say('\nNext: "svc describe <tool>" shows its arguments.');
    return EXIT.ok;
  });
}

function sayOmitted(terminal: Terminal, { omitted }: Pick<SyncReport, "omitted">, what: string): void {
  for (const { integration, count } of omitted) {
    terminal.say(`${count} more tools${integration ? ` of ${integration}` : ""} ${what}.`);
  }
}

/** One line per tool under its integration: name, effect, first sentence, cut where the terminal ends. */
function formatTools(terminal: Terminal, entries: readonly CatalogEntry[]): string {
  if (entries.length === 0)
    return 'No tool found. Connect an app in the dashboard, or try other words with "svc search".';
  const width = Math.max(...entries.map((entry) => entry.name.length));
  const max = measureLastColumn(terminal.columns, { taken: width + 13, ...SENTENCE });
  const groups = Map.groupBy(entries, (entry) => entry.integration);
  return [...groups]
    .map(([integration, group]) =>
      [
        terminal.style("bold", toPlainText(integration || "other")),
        ...group.map((entry) =>
          toPlainText(
            `  ${entry.name.padEnd(width)}  ${entry.effect.padEnd(7)}  ${firstSentence(entry.description, max)}`,
          ),
        ),
      ].join("\n"),
    )
    .join("\n");
}

/** A tool in the lists of `--json`. */
export function toJson({ name, integration, title, description, effect, needsConfirmation }: CatalogEntry) {
  return { name, integration, title, description, effect, needsConfirmation: needsConfirmation ?? null };
}

function firstSentence(text: string, max: number): string {
  const sentence = text.match(/^.*?[.!?](?=\s|$)/s)?.[0] ?? text;
  return toPlainText(sentence.replaceAll(/\s+/g, " "), { max });
}

interface SearchFlags {
  readonly baseUrl?: string;
  readonly integration?: string;
  readonly limit: string;
}

/** `svc search`: tools that match the words, ranked by the service. */
export async function search(context: CliContext, words: string[], flags: SearchFlags): Promise<number> {
  return withCatalog(context, { ...flags, cached: false }, async (catalog) => {
    const limit = wholeNumber(flags.limit, "--limit", 1, 200);
    const query = { query: words.join(" "), limit, ...(flags.integration ? { integration: flags.integration } : {}) };
    const found = await catalog.search(query, context.signal);
    context.terminal.answer(found.map(toJson), () => formatTools(context.terminal, found));
    return EXIT.ok;
  });
}

const PARALLEL = 8;

/** `svc tools --pin` and `--check`: describes every tool again, bypassing the cache. */
export async function comparePins(context: CliContext, flags: ToolsFlags): Promise<number> {
  if (flags.integration !== undefined) {
    throw new SvcError("invalid_config", "--integration cannot be combined with --pin or --check.", {
      field: "--integration",
      hint: "The pins always cover every tool of the account.",
    });
  }
  return withCatalog(context, { ...flags, cached: false }, async (catalog, client) => {
    const file = flags.pinFile ?? join(context.places.state, "tools.lock.json");
    const pins = await openPins({ file, mode: undefined, service: client.baseUrl, now: Date.now });
    sayOmitted(context.terminal, await catalog.sync({ signal: context.signal }), "are not listed, so not pinned");
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
