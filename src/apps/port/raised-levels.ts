import type { LevelCondition, RaisedLevel } from "../../shared/wire/call-level.ts";

/** A condition of `Action.raises`: calls whose arguments fit count as deleting, as what is there is gone afterwards. */
export function deletesWhen(says: string, when: LevelCondition["when"]): LevelCondition {
  return { level: "delete", says, when };
}

/** A schema for arguments that have this one, with a value that fits. */
export function given(name: string, schema: object = {}): Record<string, unknown> {
  return { type: "object", required: [name], properties: { [name]: schema } };
}

/** A schema for arguments of which one is given, empty: a text without a visible character, or a list without an item. */
export function anyEmptied(...names: readonly string[]): Record<string, unknown> {
  const empty = { anyOf: [{ type: "string", pattern: "^\\s*$" }, { type: "array", maxItems: 0 }, { type: "null" }] };
  return { anyOf: names.map((name) => given(name, empty)) };
}

/**
 * More things in one call than a person checks before a yes: as many lines as a terminal of 24 rows shows below the other facts
 * of a call.
 */
export const MASS = 20;

/** A schema for arguments that name more than {@link MASS} things. */
export function mass(name: string): Record<string, unknown> {
  return given(name, { type: "array", minItems: MASS + 1 });
}

/**
 * Compares what is there with what a call sets: deleting where a value that is there is not there afterwards. Adding to an empty
 * field or to a list is none. `replacing` names the fields in the words of the arguments.
 */
export function judgeReplacing(
  present: Readonly<Record<string, unknown>>,
  wanted: Readonly<Record<string, unknown>>,
): RaisedLevel | undefined {
  const lost = Object.keys(wanted).filter((name) => wanted[name] !== undefined && isLost(present[name], wanted[name]));
  if (lost.length === 0) return undefined;
  return { level: "delete", says: `takes away or replaces what is there now: ${lost.join(", ")}` };
}

function isLost(before: unknown, after: unknown): boolean {
  const list = listValues(before);
  const kept = new Set(listValues(after));
  return list.some((value) => !kept.has(value));
}

/** The values of a field, each as a text; none for an empty one. */
function listValues(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(listValues);
  if (value === null || value === undefined) return [];
  const text = typeof value === "object" ? writeMembers(value) : String(value);
  const flat = text.normalize("NFC").replaceAll(/\s+/g, " ").trim();
  return flat === "" ? [] : [flat];
}

/** What a value is for, such as "work", is no content. */
function writeMembers(value: object): string {
  const members = Object.entries(value).filter(([name, part]) => name !== "type" && part !== undefined && part !== "");
  return members.length === 1 ? String(members[0]?.[1]) : JSON.stringify(members.sort(([a], [b]) => (a < b ? -1 : 1)));
}
