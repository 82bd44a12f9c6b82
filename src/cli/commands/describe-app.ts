import {
  type Difference,
  listDifferences,
  type SourceContent,
  summariseDifferences,
} from "../../service/added/source-content.ts";
import type { NewSource } from "../../service/added/source-store.ts";
import { SIDE_EFFECT_LEVELS } from "../../wire/catalog.ts";
import { toPlainText } from "../../wire/plain-text.ts";
import { measureLastColumn, type Terminal, wrapWords } from "../terminal.ts";

type App = Pick<NewSource, "slug" | "content">;

const NAMED_READS = 12;
const TITLE = { shortest: 20, longest: 80 } as const;

/** How many actions of each level there are, such as `5 read, 1 delete`. */
export function countLevels({ content }: App): string {
  const levels = groupByLevel(content).map(([level, actions]) => `${actions.length} ${level}`);
  return levels.join(", ") || "none";
}

/**
 * What an app may do, for somebody who is asked to agree to it: reads by number with the first names, then one line for
 * every other action, those that can do most harm last and so nearest to the question.
 */
export function describeActions(terminal: Terminal, { slug, content }: App): string[] {
  const groups = groupByLevel(content);
  const reads = groups.flatMap(([level, actions]) => (level === "read" ? actions : []));
  const shown = groups.flatMap(([level, actions]) => (level === "read" ? [] : actions));
  const width = Math.max(...shown.map(({ id }) => nameTool(slug, id).length));
  const max = measureLastColumn(terminal.columns, { taken: width + 12, ...TITLE });
  const lines = shown.map(({ id, level, title }) => {
    const text = terminal.style("dim", toPlainText(title, { max }));
    return `  ${nameTool(slug, id).padEnd(width)}  ${level.padEnd(6)}  ${text}`;
  });
  return [...describeReads(terminal, slug, reads), ...lines];
}

/** The same for a program: every action. */
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

/** In the order of {@link SIDE_EFFECT_LEVELS}, without those that no action has. */
function groupByLevel({ actions }: App["content"]) {
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

/** What two states of an app differ in, in one sentence. */
export function summariseChanges(old: SourceContent, next: SourceContent): string {
  return summariseDifferences(listDifferences(old, next));
}

/** The differences between two states of an app: what is new, gone, and how each changed action was and would be. */
export function describeChanges(old: SourceContent, next: SourceContent): string[] {
  const { added, removed, changed } = listDifferences(old, next);
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
