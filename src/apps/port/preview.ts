import { ServiceError } from "../../service/service-error.ts";
import { sha256Hex } from "../../shared/base/hash.ts";
import { diffLines } from "../../shared/base/line-diff.ts";
import { shortenText, toOneLine } from "../../shared/base/text.ts";
import {
  MAX_PREVIEW_BYTES,
  type Preview,
  type PreviewChange,
  type PreviewEffect,
  type PreviewObject,
  type PreviewUndo,
} from "../../shared/wire/preview.ts";

/** What an action says that a call would do; {@link finishPreview} cuts it to what goes over the wire. */
export interface PreviewDraft {
  /** One sentence that a stranger understands, without ids: `Replace the text of "Plan" in Local notes (3 lines change)`. */
  readonly summary: string;
  /** By the names that the app knows, never those that the caller wrote. All of them, or the first ten. Default: none. */
  readonly objects?: readonly PreviewObject[];
  /** How many there are. Default: those in `objects`. */
  readonly objectCount?: number;
  /** See {@link changeText} and {@link changeValue}. Default: none. */
  readonly changes?: readonly PreviewChange[];
  /** Default: none. */
  readonly effects?: readonly PreviewEffect[];
  /** What truly holds: not possible, and why or what is left, where the service itself cannot take it back. */
  readonly undo: PreviewUndo;
  /** All that was read and that the call depends on, as JSON; the `state` is made from it. */
  readonly seen: unknown;
}

const MAX_OBJECTS = 10;
/** Most effects, and most changes, of a preview; further ones are left out. */
export const MAX_ITEMS = 50;
const MAX_SUMMARY = 120;
const MAX_NAME = 200;
const MAX_VALUE = 2000;
/** Longest line of a diff, in characters. */
const MAX_LINE = 500;
/** All texts of a preview together, in bytes of JSON; its frame takes the rest. */
const MAX_TEXT_BYTES = MAX_PREVIEW_BYTES / 2;

/** A name in a sentence of a preview, in quotes that it cannot close, of at most `longest` characters. */
export function quoteName(name: string, longest = 40): string {
  return `"${shortenText(toOneLine(name).replaceAll('"', "'"), longest)}"`;
}

/** The change of a text, line by line; empty where it stays as it is. */
export function changeText(field: string, before: string, after: string): PreviewChange[] {
  const { text } = diffLines(before, after);
  return text === "" ? [] : [{ field, diff: text }];
}

/**
 * The change of a value; empty where it stays as it is. Lists are joined with commas, and `undefined`, `null` and what is empty
 * count as no value.
 */
export function changeValue(field: string, before: unknown, after: unknown): PreviewChange[] {
  const [old, fresh] = [writeValue(before), writeValue(after)];
  if (old === fresh) return [];
  return [{ field, ...(old !== "" && { before: old }), ...(fresh !== "" && { after: fresh }) }];
}

function writeValue(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.map(writeValue).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** The `state` of what was read: equal for equal JSON. */
export function hashState(seen: unknown): string {
  return sha256Hex(JSON.stringify(seen) ?? "").slice(0, 32);
}

/**
 * Called by `run` with what it has read just before it acts: throws {@link refuseChanged} when the call was approved for another
 * state. `seen` is made as that of the preview.
 */
export function checkState({ expectedState }: { readonly expectedState?: string | undefined }, seen: unknown): void {
  if (expectedState !== undefined && hashState(seen) !== expectedState) throw refuseChanged();
}

/** Code of the refusal of a call whose preview is no longer true. */
export const STATE_CHANGED = "state_changed";

/** 412 `state_changed`: nothing was done, because what the call acts on is not as it was shown. */
export function refuseChanged(): ServiceError {
  return new ServiceError(
    412,
    STATE_CHANGED,
    "What this call acts on was changed after it was shown. Nothing was done.",
    {
      type: "confirmation",
      hint: "Look at its present state, and ask again.",
    },
  );
}

/** The preview as it is sent: the first ten objects, texts cut to their limits, at most 64 kB, with its state. */
export function finishPreview(draft: PreviewDraft): Preview {
  const cut = createCutter();
  const { summary, objects = [], objectCount = objects.length, changes = [], effects = [], undo } = draft;
  return {
    summary: cut(summary, MAX_SUMMARY),
    // Before what is long: whatever else is cut, these are whole.
    undo: { ...undo, ...(undo.why !== undefined && { why: cut(undo.why, MAX_NAME) }) },
    effects: effects.slice(0, MAX_ITEMS).map(({ code, text }) => ({ code, text: cut(text, MAX_NAME) })),
    objects: objects.slice(0, MAX_OBJECTS).map(({ kind, name, details }) => ({
      kind,
      name: cut(name, MAX_NAME),
      details: details
        .slice(0, MAX_OBJECTS)
        .map(({ label, value }) => ({ label: cut(label, MAX_NAME), value: cut(value, MAX_NAME) })),
    })),
    objectCount,
    changes: cutChanges(changes, cut),
    state: hashState(draft.seen),
  };
}

type Cut = (text: string, longest: number) => string;

/** Cuts texts while all of them together stay in their limit. */
function createCutter(): Cut {
  let left = MAX_TEXT_BYTES;
  return (text, longest) => {
    const whole = shortenText(text.toWellFormed(), longest);
    const size = (part: string) => Buffer.byteLength(JSON.stringify(part));
    // A character takes at most six bytes, so that this many always fit.
    const fitting = size(whole) <= left ? whole : shortenText(whole, Math.max(1, Math.floor(left / 6)));
    left -= size(fitting);
    return fitting;
  };
}

function cutChanges(changes: readonly PreviewChange[], cut: Cut): PreviewChange[] {
  const kept = changes.slice(0, MAX_ITEMS).map(({ field, before, after, diff }) => ({
    field: cut(field, MAX_NAME),
    ...(before !== undefined && { before: cut(before, MAX_VALUE) }),
    ...(after !== undefined && { after: cut(after, MAX_VALUE) }),
    ...(diff !== undefined && { diff: cutDiff(diff, cut) }),
  }));
  const rest = changes.length - kept.length;
  return rest === 0 ? kept : [...kept, { field: "…", after: `${rest} more changes` }];
}

/** Whole lines; what does not fit is counted. */
function cutDiff(diff: string, cut: Cut): string {
  const lines = diff.split("\n");
  const kept: string[] = [];
  for (const line of lines) {
    const shown = shortenText(line, MAX_LINE);
    if (cut(shown, MAX_LINE) !== shown.toWellFormed()) break;
    kept.push(shown);
  }
  const rest = lines.length - kept.length;
  return [...kept, ...(rest === 0 ? [] : [`\\ ${rest} more lines`])].join("\n");
}
