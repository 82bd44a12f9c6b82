import { addRules, changeLevels, explainLevel, judgeLevel, listLowered } from "../../apps/port/action-levels.ts";
import { type IntegrationSource, isStopped, type StoredSource } from "../../apps/port/source.ts";
import { compareContents } from "../../apps/port/source-content.ts";
import type { SourceAdmin } from "../../service/added/open-source-admin.ts";
import { toPlainText } from "../../shared/card/plain-text.ts";
import { SvcError } from "../../shared/errors.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import {
  askYesNo,
  describeChanges,
  describeRows,
  groupByLevel,
  listActions,
  type SourceFlags,
  summariseChanges,
  withApps,
} from "./add-source.ts";
import { describeRules, type LevelFlags, readLevelFlags } from "./levels.ts";

interface ReviewFlags extends SourceFlags, LevelFlags {
  readonly trust?: boolean;
}

/**
 * `svc review`: the levels of an added app, and the changes it wants for its actions, which apply only after the owner
 * agrees. With flags the levels change, and nothing else.
 */
export async function review(context: CliContext, slug: string, flags: ReviewFlags): Promise<number> {
  const { terminal } = context;
  return withApps(context, flags, async (apps) => {
    const source = await findAdded(apps, slug);
    if (isStopped(source)) {
      throw new SvcError("invalid_config", `${source.name} stopped working.`, { field: "app", hint: source.stopped });
    }
    if (flags.level !== undefined || flags.trust !== undefined) return changeLevelsOf(context, apps, source, flags);
    const { name, content, levels, proposal } = source;
    const shown = toPlainText(name);
    const now = groupByLevel(content).flatMap(([, actions]) => actions);
    for (const line of describeRows(terminal, slug, now, (action) => explainLevel(action, source))) terminal.say(line);
    for (const note of describeRules(levels.levels ?? [], content)) terminal.say(note);
    if (proposal === undefined) {
      terminal.answer({ slug, proposal: null, ...listLevels(source) }, () => `${shown} offers what you agreed to.`);
      return EXIT.ok;
    }
    terminal.say(`${shown} offers something else since ${proposal.foundAt}.`);
    terminal.say(summariseChanges(content, proposal.content));
    for (const line of describeChanges(content, proposal.content)) terminal.say(line);
    if (!(await askYesNo(context, flags, "Use the actions as they are now?"))) {
      terminal.say("Nothing was changed: the actions you agreed to stay in use, the changed ones are not run.");
      return EXIT.notApproved;
    }
    if (!(await apps.accept(slug, proposal.digest))) throw changedMeanwhile(slug);
    const changes = compareContents(content, proposal.content);
    terminal.answer({ slug, accepted: proposal.digest, changes }, () => "The actions are in use within seconds.");
    return EXIT.ok;
  });
}

/** Shows and stores other levels; lower ones only after a question. */
async function changeLevelsOf(
  context: CliContext,
  apps: SourceAdmin,
  source: IntegrationSource,
  flags: ReviewFlags,
): Promise<number> {
  const { terminal } = context;
  const { slug, name, kind, proposal } = source;
  if (flags.trust !== undefined && kind !== "mcp") {
    throw new SvcError("invalid_config", `${toPlainText(name)} is not an MCP server, and marks nothing itself.`, {
      field: "--trust",
      hint: "Its levels are those of the HTTP methods. Change them with --level.",
    });
  }
  const levels = addRules(source.levels.levels, readLevelFlags(flags));
  const change = { levels, ...(flags.trust !== undefined && { trusted: flags.trust }) };
  const next = changeLevels(source, change);
  const before = new Map(source.content.actions.map(({ id, level }) => [id, level]));
  const changed = next.content.actions.filter(({ id, level }) => before.get(id) !== level);
  for (const line of describeRows(terminal, slug, changed, ({ id }) => `so far ${before.get(id)}`)) terminal.say(line);
  for (const note of describeRules(levels, next.content)) terminal.say(note);
  const lowered = listLowered(source.content.actions, next.content.actions);
  if (lowered.length > 0 && !(await askYesNo(context, flags, `Lower the level of ${lowered.length} of them?`))) {
    terminal.say("Nothing was changed.");
    return EXIT.notApproved;
  }
  if (!(await apps.setLevels(source, change))) throw changedMeanwhile(slug);
  const waits = proposal === undefined ? "" : ` Changes wait for you: "svc review ${slug}".`;
  const now = listLevels({ ...next, levels: { ...source.levels, ...change } });
  terminal.answer(
    { slug, changed: changed.map(({ id }) => id), ...now },
    () => `${changed.length} levels have changed; a running service follows within seconds.${waits}`,
  );
  return EXIT.ok;
}

/** Levels and what decides them, for JSON output. */
function listLevels(source: IntegrationSource) {
  const { levels: rules = [], trusted } = source.levels;
  const named = listActions(source);
  const actions = source.content.actions.map((action, at) => {
    const { level: effect, ...why } = judgeLevel(action, source.levels);
    return { ...named[at], effect, ...why };
  });
  return { trusted, rules, actions };
}

function changedMeanwhile(slug: string): SvcError {
  const hint = `Run "svc review ${slug}" again.`;
  return new SvcError("invalid_config", "The app changed again meanwhile.", { field: "app", hint });
}

/** `svc remove`: removes an added app and its connections. */
export async function remove(context: CliContext, slug: string, flags: SourceFlags): Promise<number> {
  const { terminal } = context;
  return withApps(context, flags, async (apps) => {
    const source = await findAdded(apps, slug);
    const shown = toPlainText(source.name);
    const actions = isStopped(source) ? "" : `, its ${source.content.actions.length} actions`;
    if (!(await askYesNo(context, flags, `Remove ${shown}${actions} and its connections?`))) {
      terminal.say("Nothing was removed.");
      return EXIT.notApproved;
    }
    await apps.remove(slug);
    terminal.answer({ removed: slug }, () => `${shown} is removed; a running service drops it within seconds.`);
    return EXIT.ok;
  });
}

/**
 * Finds the added app with this slug, usable or not. Throws SvcError `invalid_config`, field `app`, listing the added
 * apps.
 */
async function findAdded(apps: SourceAdmin, slug: string): Promise<StoredSource> {
  const source = await apps.find(slug);
  if (source !== undefined) return source;
  const names = (await apps.list()).map((item) => toPlainText(item.slug));
  throw new SvcError("invalid_config", `No app "${slug}" was added to this service.`, {
    field: "app",
    hint: names.length === 0 ? 'Add one with "svc add".' : `Added apps: ${names.join(", ")}.`,
  });
}
