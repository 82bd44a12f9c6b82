import { type Difference, listDifferences, summariseDifferences } from "../../service/sources/list-differences.ts";
import type { SourceContent } from "../../service/sources/source-content.ts";
import { toPlainText } from "../../wire/plain-text.ts";

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
