import { resolve } from "node:path";
import { changeLevels } from "../../apps/port/action-levels.ts";
import type { NewSource } from "../../apps/port/source.ts";
import { isStopped } from "../../apps/port/source.ts";
import {
  compareContents,
  type Difference,
  type SourceContent,
  type StoredAction,
  summariseDifferences,
} from "../../apps/port/source-content.ts";
import { LineReader } from "../../plugin/runtimes/terminal/line-reader.ts";
import { openSourceAdmin, type SourceAdmin } from "../../service/added/open-source-admin.ts";
import { readServingUrl } from "../../service/store/data-folder.ts";
import { toPlainText } from "../../shared/card/plain-text.ts";
import { SvcError } from "../../shared/errors.ts";
import { SIDE_EFFECT_LEVELS } from "../../shared/wire/catalog.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { measureLastColumn, type Terminal, wrapWords } from "../terminal.ts";
import { describeRules, type LevelFlags, readLevelFlags } from "./levels.ts";

/** Flags of every command that changes which apps a service has. */
export interface SourceFlags {
  readonly data?: string;
  readonly database?: string;
  readonly yes?: true;
}

/** Flags of every `svc add …`. */
export interface AddFlags extends SourceFlags, LevelFlags {
  readonly name?: string;
  readonly replace?: true;
}

/** An app ready to be added, with facts for its owner. */
interface PreparedSource {
  readonly source: NewSource;
  /** One sentence each, the most important first: the program or address it uses, left out and renamed actions. */
  readonly notes: readonly string[];
  /** Created together with the app; left out when the owner must enter settings in the dashboard. */
  readonly connection?: { readonly label: string; readonly settings: Readonly<Record<string, unknown>> };
}

const SHOWN_NOTES = 12;

/**
 * Start of every `svc add …`: refuses an unusable name or level before anything is started, fetched or installed.
 *
 * @throws SvcError `invalid_config`, field `slug`, `dataDir` or `--level`.
 */
export async function checkPlace(context: CliContext, slug: string, flags: AddFlags): Promise<void> {
  readLevelFlags(flags);
  await withApps(context, flags, (apps) => apps.checkSlug(slug, { replace: flags.replace === true }));
}

/** End of every `svc add …`: shows the app, asks, and stores it. Levels of an app that is replaced stay without new ones. */
export async function addSource(
  context: CliContext,
  { source: prepared, notes: said, connection }: PreparedSource,
  flags: AddFlags,
): Promise<number> {
  const { terminal } = context;
  return withApps(context, flags, async (apps) => {
    const known = flags.replace ? await apps.find(prepared.slug) : undefined;
    const kept = known === undefined || isStopped(known) ? [] : (known.levels.levels ?? []);
    const levels = flags.level === undefined ? kept : readLevelFlags(flags);
    const source = changeLevels(prepared, { levels });
    const notes = [...describeRules(levels, source.content), ...said];
    for (const line of describeContent(terminal, source)) terminal.say(line);
    if (known !== undefined && isStopped(known)) {
      terminal.say(`It takes the place of ${known.name}, which stopped working; its connections stay.`);
    } else if (known !== undefined) {
      terminal.say(`Against what is in use: ${summariseChanges(known.content, source.content)}`);
      for (const line of describeChanges(known.content, source.content)) terminal.say(line);
    }
    const more = notes.length - SHOWN_NOTES;
    for (const note of notes.slice(0, SHOWN_NOTES)) terminal.say(`Note: ${toPlainText(note)}`);
    if (more > 0) terminal.say(`Note: … and ${more} more; --json prints them all.`);
    if (!(await askYesNo(context, flags, `Add ${toPlainText(source.name)}?`))) {
      terminal.say("Nothing was added.");
      return EXIT.notApproved;
    }
    const { isConnected } = await apps.add(source, {
      replace: flags.replace === true,
      ...(connection === undefined ? {} : { connection }),
    });
    const { text, ...next } = await findNext(context, source, { ...flags, isConnected });
    const answer = { added: source.slug, kind: source.kind, actions: source.content.actions.length };
    terminal.answer({ ...answer, tools: listActions(source), connected: isConnected, notes, ...next }, () =>
      [`${terminal.style("green", "Added.")} A running service offers it within seconds.`, text].join("\n"),
    );
    return EXIT.ok;
  });
}

/** What the owner does next; with the page that connects the app, when its service runs on the data folder. */
async function findNext(
  { places }: CliContext,
  { slug }: NewSource,
  { data, isConnected }: SourceFlags & { isConnected: boolean },
): Promise<{ readonly text: string; readonly next: string; readonly connectUrl?: string }> {
  const tools = `svc tools --integration ${slug}`;
  if (isConnected) return { next: tools, text: `Next: see its tools with "${tools}".` };
  const next = `svc connect ${slug}`;
  const url = await readServingUrl(resolve(data ?? places.service)).catch(() => undefined);
  if (url === undefined) return { next, text: `Next: connect it with "${next}".` };
  const connectUrl = `${url}/connect/${slug}`;
  const signIn = 'Not signed in there? "svc login-link" prints a sign-in link.';
  return { next, connectUrl, text: `Next: connect it at ${connectUrl}\n${signIn}` };
}

/** Opens the apps of the local service that the flags name, runs `work`, and closes them. */
export async function withApps<T>(
  { places, env }: CliContext,
  { data, database }: SourceFlags,
  work: (apps: SourceAdmin) => Promise<T>,
): Promise<T> {
  const secretKey = env.SVC_SECRET || undefined;
  const apps = await openSourceAdmin({ dataDir: data ?? places.service, database, secretKey });
  try {
    return await work(apps);
  } finally {
    await apps.close();
  }
}

/** Escapes an app's own texts, so that they cannot draw on the screen with the question. */
function describeContent(terminal: Terminal, source: NewSource): string[] {
  const { slug, name, content } = source;
  const { actions, settingsForm, settingsHelp } = content;
  const isMarked = settingsHelp === undefined;
  const form = settingsForm.map(({ label, optional, options, kind }) => {
    if (kind === "choice") return `${label} (${options?.map((one) => one.label).join("; ")})`;
    return optional && isMarked && kind !== "scopes" ? `${label} (optional)` : label;
  });
  return [
    `${terminal.style("bold", toPlainText(name))} (${slug}): ${actions.length} actions: ${countLevels(source)}.`,
    ...describeActions(terminal, source),
    ...(form.length > 0 ? [`To connect it you are asked for: ${toPlainText(form.join(", "))}.`] : []),
    ...(settingsHelp === undefined ? [] : [toPlainText(settingsHelp)]),
  ];
}

/**
 * Asks a yes/no question, unless `--yes` answers it; anything but y is no.
 *
 * @throws SvcError `invalid_config` without `--yes` where nobody can answer.
 */
export async function askYesNo(
  { input, output, signal }: CliContext,
  { yes }: SourceFlags,
  question: string,
): Promise<boolean> {
  if (yes === true) return true;
  const reader = new LineReader({ input, output });
  try {
    await reader.discardTypedAhead();
    const answer = await reader.read(`${question} [y/N] `, signal);
    if (answer.kind === "line") return /^y(es)?$/i.test(answer.text.trim());
    if (answer.kind === "interrupted") return false;
  } finally {
    reader.close();
  }
  throw new SvcError("invalid_config", "Nobody answered.", {
    field: "--yes",
    hint: "Look at what is shown above, then run the same command with --yes.",
  });
}

type App = Pick<NewSource, "slug" | "content">;

const NAMED_READS = 12;
const TITLE = { shortest: 20, longest: 80 } as const;

/** Number of actions per level, such as `5 read, 1 delete`. */
function countLevels({ content }: App): string {
  const levels = groupByLevel(content).map(([level, actions]) => `${actions.length} ${level}`);
  return levels.join(", ") || "none";
}

/**
 * The actions of an app, for the human who must agree to them: reads as a count with the first names, then one line for
 * every other action. The most harmful come last, next to the question.
 */
export function describeActions(terminal: Terminal, { slug, content }: App): string[] {
  const groups = groupByLevel(content);
  const reads = groups.flatMap(([level, actions]) => (level === "read" ? actions : []));
  const shown = groups.flatMap(([level, actions]) => (level === "read" ? [] : actions));
  return [...describeReads(terminal, slug, reads), ...describeRows(terminal, slug, shown, ({ title }) => title)];
}

/** One line for each action: its name, its level, and what there is to tell about it. */
export function describeRows(
  terminal: Terminal,
  slug: string,
  actions: App["content"]["actions"],
  tell: (action: StoredAction) => string,
): string[] {
  const width = Math.max(...actions.map(({ id }) => nameTool(slug, id).length));
  const max = measureLastColumn(terminal.columns, { taken: width + 12, ...TITLE });
  return actions.map((action) => {
    const text = terminal.style("dim", toPlainText(tell(action), { max }));
    return `  ${nameTool(slug, action.id).padEnd(width)}  ${action.level.padEnd(6)}  ${text}`;
  });
}

/** All actions, for JSON output. */
export function listActions({ slug, content }: App) {
  return content.actions.map(({ id, title, level }) => ({ name: nameTool(slug, id), title, effect: level }));
}

function describeReads(terminal: Terminal, slug: string, reads: App["content"]["actions"]): string[] {
  if (reads.length === 0) return [];
  const names = reads.slice(0, NAMED_READS).map(({ id }) => nameTool(slug, id));
  const more = reads.length - names.length;
  const rest = more > 0 ? ` and ${more} more; --json names them all.` : "";
  return [wrapWords(`  ${reads.length} read: ${names.join(", ")}${rest}`, terminal.columns, "    ")];
}

/** In the order of {@link SIDE_EFFECT_LEVELS}; levels without actions are left out. */
export function groupByLevel({ actions }: App["content"]) {
  const groups = Map.groupBy(actions, ({ level }) => level);
  return SIDE_EFFECT_LEVELS.flatMap((level) => {
    const group = groups.get(level);
    return group === undefined ? [] : [[level, group] as const];
  });
}

function nameTool(slug: string, id: string): string {
  return toPlainText(`${slug}_${id}`);
}

const SHOWN_TEXT = 400;
const SHOWN_DIFFERENCES = 20;

/** The differences between two states of an app, in one sentence. */
export function summariseChanges(old: SourceContent, next: SourceContent): string {
  return summariseDifferences(compareContents(old, next));
}

/** The differences between two states of an app: new, removed and changed actions, the latter with both values. */
export function describeChanges(old: SourceContent, next: SourceContent): string[] {
  const { added, removed, changed } = compareContents(old, next);
  return [
    ...added.map(
      ({ id, level, description, title }) =>
        `  new      ${toPlainText(id)} (${level}): ${toPlainText(description || title, { max: SHOWN_TEXT })}`,
    ),
    ...removed.map((id) => `  gone     ${toPlainText(id)}`),
    ...changed.flatMap(({ id, differences }) => describeChanged(id, differences)),
  ];
}

function describeChanged(id: string, differences: readonly Difference[]): string[] {
  const more = differences.length - SHOWN_DIFFERENCES;
  return [
    `  changed  ${toPlainText(id)}`,
    ...differences
      .slice(0, SHOWN_DIFFERENCES)
      .map(({ path, was, is }) => `             ${toPlainText(path)}: ${show(was)} → ${show(is)}`),
    ...(more > 0 ? [`             … and ${more} more differences`] : []),
  ];
}

function show(value: string | undefined): string {
  return value === undefined ? "nothing" : toPlainText(value, { max: SHOWN_TEXT });
}
