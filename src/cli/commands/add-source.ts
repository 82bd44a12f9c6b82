import { SvcError } from "../../errors.ts";
import { LineReader } from "../../runtimes/terminal/line-reader.ts";
import { openSourceDesk } from "../../service/added/open-source-desk.ts";
import { isStopped } from "../../service/added/source.ts";
import type { NewSource } from "../../service/added/source-store.ts";
import { toPlainText } from "../../wire/plain-text.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import type { Terminal } from "../terminal.ts";
import { countLevels, describeActions, describeChanges, listActions, summariseChanges } from "./describe-app.ts";

/** Flags of every command that changes which apps a service has. */
export interface SourceFlags {
  readonly data?: string;
  readonly database?: string;
  readonly yes?: true;
}

/** Flags of every `svc add …`. */
export interface AddFlags extends SourceFlags {
  readonly name?: string;
  readonly replace?: true;
}

/** An app ready to be added, and what its owner should know first. */
interface PreparedSource {
  readonly source: NewSource;
  /** One sentence each, the most important first: what it runs or reaches, what was left out or renamed. */
  readonly notes: readonly string[];
  /** Made together with the app; left out when the owner has to type settings in the dashboard. */
  readonly connection?: { readonly label: string; readonly settings: Readonly<Record<string, unknown>> };
}

const SHOWN_NOTES = 12;

/**
 * The beginning of every `svc add …`: nothing is started, fetched or installed for a name that cannot be used.
 *
 * @throws SvcError `invalid_config`, field `slug` or `dataDir`.
 */
export async function checkPlace(context: CliContext, slug: string, flags: AddFlags): Promise<void> {
  const desk = await openSourceDesk(findPlace(context, flags));
  try {
    await desk.checkSlug(slug, { replace: flags.replace === true });
  } finally {
    await desk.close();
  }
}

/** The end of every `svc add …`: shows what would be added, asks, and stores it. */
export async function addSource(
  context: CliContext,
  { source, notes, connection }: PreparedSource,
  flags: AddFlags,
): Promise<number> {
  const { terminal } = context;
  const desk = await openSourceDesk(findPlace(context, flags));
  try {
    const known = flags.replace ? await desk.find(source.slug) : undefined;
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
    if (flags.yes !== true && !(await askYesNo(context, `Add ${toPlainText(source.name)}?`))) {
      terminal.say("Nothing was added.");
      return EXIT.notApproved;
    }
    const { isConnected } = await desk.add(source, {
      replace: flags.replace === true,
      ...(connection === undefined ? {} : { connection }),
    });
    const next = isConnected ? `svc tools --integration ${source.slug}` : `svc connect ${source.slug}`;
    const answer = { added: source.slug, kind: source.kind, actions: source.content.actions.length };
    terminal.answer({ ...answer, tools: listActions(source), connected: isConnected, notes, next }, () =>
      [
        `${terminal.style("green", "Added.")} A running service offers it within seconds.`,
        `Next: ${isConnected ? "see its tools" : "connect it"} with "${next}".`,
      ].join("\n"),
    );
    return EXIT.ok;
  } finally {
    await desk.close();
  }
}

/** Where the service keeps its data. */
export function findPlace({ places, env }: CliContext, flags: SourceFlags) {
  return { dataDir: flags.data ?? places.service, database: flags.database, secretKey: env.SVC_SECRET || undefined };
}

/** What an app says of itself is text from outside: it must not be able to draw on the screen that asks about it. */
function describeContent(terminal: Terminal, source: NewSource): string[] {
  const { slug, name, content } = source;
  const { actions, settingsForm, settingsHelp } = content;
  const isMarked = settingsHelp === undefined;
  const form = settingsForm.map(({ label, optional }) => (optional && isMarked ? `${label} (optional)` : label));
  return [
    `${terminal.style("bold", toPlainText(name))} (${slug}): ${actions.length} actions: ${countLevels(source)}.`,
    ...describeActions(terminal, source),
    ...(form.length > 0 ? [`To connect it you are asked for: ${toPlainText(form.join(", "))}.`] : []),
    ...(settingsHelp === undefined ? [] : [toPlainText(settingsHelp)]),
  ];
}

/**
 * Asks a question that is answered with y or n; anything else is no.
 *
 * @throws SvcError `invalid_config` where nobody answers: `--yes` has to say it there.
 */
export async function askYesNo({ input, output, terminal, signal }: CliContext, question: string): Promise<boolean> {
  const reader = new LineReader({ input, output: terminal.json ? process.stderr : output });
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
