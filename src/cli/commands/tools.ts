import { join } from "node:path";
import type { SyncReport, ToolCatalog } from "../../plugin/calls/catalog/catalog.ts";
import type { CatalogEntry } from "../../plugin/calls/catalog/catalog-entry.ts";
import { openPins, type PinChange, type Pins } from "../../plugin/calls/catalog/pins.ts";
import { listAllIntegrations } from "../../plugin/client/all-integrations.ts";
import type { SvcClient } from "../../plugin/client/client.ts";
import { toPlainText } from "../../shared/card/plain-text.ts";
import { isSvcError, SvcError } from "../../shared/errors.ts";
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
  return withCatalog(context, { ...flags, cached: true }, async (catalog, client) => {
    const { integration: only } = flags;
    const asked = findUnconnected(client, context.signal);
    // Lists that cannot be read end the command first.
    asked.catch(() => undefined);
    const report = await catalog.sync({
      ...(only === undefined ? {} : { integrations: [only] }),
      onProgress: ({ tools: count }) => terminal.progress(`  reading the tool list, ${count} so far`),
      signal: context.signal,
    });
    terminal.endProgress();
    const found = catalog.list().filter(({ integration }) => only === undefined || integration === only);
    const unconnected = await asked;
    terminal.answer(
      found.map((entry) => toJson(entry, unconnected)),
      () => formatTools(terminal, found, unconnected),
    );
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

/** Slugs of the apps that are not connected yet; empty where the service does not say. */
export async function findUnconnected(client: SvcClient, signal: AbortSignal): Promise<ReadonlySet<string>> {
  try {
    const items = await listAllIntegrations(client, {}, { signal });
    return new Set(items.filter(({ connected }) => connected === false).map((item) => item.integration_id));
  } catch (error) {
    if (!isSvcError(error) || error.code === "aborted") throw error;
    return new Set();
  }
}

/** One line per tool under its integration: name, effect, first sentence, cut where the terminal ends. */
function formatTools(terminal: Terminal, entries: readonly CatalogEntry[], unconnected: ReadonlySet<string>): string {
  if (entries.length === 0)
    return 'No tool found. Connect an app in the dashboard, or try other words with "svc search".';
  const width = Math.max(...entries.map((entry) => entry.name.length));
  const max = measureLastColumn(terminal.columns, { taken: width + 13, ...SENTENCE });
  const groups = Map.groupBy(entries, (entry) => entry.integration);
  return [...groups]
    .map(([integration, group]) =>
      [
        `${terminal.style("bold", toPlainText(integration || "other"))}${nameUnconnected(integration, unconnected)}`,
        ...group.map((entry) =>
          toPlainText(
            `  ${entry.name.padEnd(width)}  ${entry.effect.padEnd(7)}  ${firstSentence(entry.description, max)}`,
          ),
        ),
      ].join("\n"),
    )
    .join("\n");
}

function nameUnconnected(integration: string, unconnected: ReadonlySet<string>): string {
  return unconnected.has(integration) ? toPlainText(` (not connected: svc connect ${integration})`) : "";
}

/** A tool in the lists of `--json`. */
export function toJson(entry: CatalogEntry, unconnected: ReadonlySet<string>) {
  const { name, integration, title, description, effect, needsConfirmation } = entry;
  const connected = !unconnected.has(integration);
  return { name, integration, title, description, effect, needsConfirmation: needsConfirmation ?? null, connected };
}

/** Where a sentence may end: not before a lower-case letter. */
const SENTENCE_END = /[.!?](?=\s|$)(?!\s+\p{Ll})/gu;
/** Words that have a full stop of their own in the middle of a sentence. */
const ABBREVIATION = /(?:^|[\s("'])(?:e\.g|i\.e|vs|cf|approx|incl|resp|mr|mrs|dr)\.$/i;
const LONGEST_ABBREVIATION = 10;

/** The first sentence of a text on one line, cut to `max` characters. */
export function firstSentence(text: string, max: number): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  const ends = [...line.matchAll(SENTENCE_END)].map(({ index }) => index + 1);
  const end = ends.find((at) => !ABBREVIATION.test(line.slice(Math.max(0, at - LONGEST_ABBREVIATION), at)));
  return toPlainText(line.slice(0, end), { max });
}

interface SearchFlags {
  readonly baseUrl?: string;
  readonly integration?: string;
  readonly limit: string;
}

/** `svc search`: tools that match the words, ranked by the service. */
export async function search(context: CliContext, words: string[], flags: SearchFlags): Promise<number> {
  return withCatalog(context, { ...flags, cached: false }, async (catalog, client) => {
    const limit = wholeNumber(flags.limit, "--limit", 1, 200);
    const query = { query: words.join(" "), limit, ...(flags.integration ? { integration: flags.integration } : {}) };
    const [found, unconnected] = await Promise.all([
      catalog.search(query, context.signal),
      findUnconnected(client, context.signal),
    ]);
    context.terminal.answer(
      found.map((entry) => toJson(entry, unconnected)),
      () => formatTools(context.terminal, found, unconnected),
    );
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
