import { parseExactly } from "../../shared/base/exact-number.ts";
import { isRecord } from "../../shared/base/json.ts";
import { exactTime, shortenText } from "../../shared/base/text.ts";
import type { FlowWait } from "../../shared/wire/flow.ts";
import type { FlowStepRow } from "../store/schema.ts";
import type { FlowTemplate } from "./flow-template.ts";
import { findItems } from "./flow-view.ts";

/** Longest line about one flow, in characters. */
const MAX_ABOUT = 160;
/** Members by which people tell things apart, the best first. */
const NAMES = ["title", "name", "subject", "label", "text"];
/** Parts of an approval's output that are not about the work. */
const OTHERS = new Set(["message", "approved", "accounts", "at", "previews"]);

/** The sentence of a step that waits, and what it is about, on one line each; the template may be gone. */
export function describeWait(step: FlowStepRow, template: FlowTemplate | undefined): FlowWait {
  const output: unknown = parseExactly(step.output ?? "{}");
  const shown = isRecord(output) ? output : {};
  const since = step.started_at ?? "";
  if (step.step_type === "wait") {
    const until = typeof shown.waitUntil === "string" ? ` at ${exactTime(shown.waitUntil)}` : "";
    return { message: `Goes on by itself${until}.`, about: "", since };
  }
  const message = typeof shown.message === "string" ? shown.message : `Waits for an approval of "${step.step_key}".`;
  const items = findItems(template, step.step_key);
  const parts =
    items === undefined ? Object.entries(shown).filter(([name]) => !OTHERS.has(name)) : [["", shown[items]]];
  const about = parts.flatMap(([, value]) => listNames(value)).join(", ");
  return { message, about: shortenText(about.replaceAll(/\s+/g, " "), MAX_ABOUT), since };
}

/** Names of the things that a value is made of. */
export function listNames(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(listNames);
  if (typeof value === "string") return value === "" ? [] : [value];
  if (!isRecord(value)) return [];
  const named = NAMES.map((name) => value[name]).find((one) => typeof one === "string" && one !== "");
  return typeof named === "string" ? [named] : [];
}
