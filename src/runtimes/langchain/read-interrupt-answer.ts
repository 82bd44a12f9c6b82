import { isRecord } from "../../base/json.ts";
import { readText } from "./read-value.ts";

/** The part of an answer that is meant for one question. `raw` is as it came. */
export interface Answer {
  readonly raw: unknown;
  /** What it means in the words all interfaces share; undefined when it is none of them. */
  readonly decision: PlainDecision | undefined;
}

/** A decision before it is bound to a request. */
type PlainDecision =
  | { readonly type: "approve"; readonly always: boolean }
  | { readonly type: "edit"; readonly name: string | undefined; readonly arguments: Record<string, unknown> }
  | { readonly type: "decline"; readonly message: string | undefined };

/** An answer taken apart. Named parts say which question they are for; the others count by their place. */
export interface SplitAnswer {
  readonly named: ReadonlyMap<string, Answer>;
  readonly plain: readonly Answer[];
}

const APPROVE = new Set(["approve", "approved", "accept", "accepted", "allow", "yes", "y", "ok", "true"]);
const EDIT = new Set(["edit", "edited"]);
const DECLINE = new Set(["reject", "rejected", "decline", "declined", "deny", "denied", "ignore", "no", "n", "false"]);
/** Words a human says instead of a decision: nothing is run and the model hears them. */
const RESPOND = new Set(["response", "respond", "feedback", "message"]);
const NAMES = ["id", "approvalId", "approval_id", "questionId", "question_id"] as const;

/**
 * Takes apart what came back from an interrupt that asked `ids`, in this order. Understood are
 * `{decisions: [...]}` (LangChain), a list or one object of `{type: accept|ignore|response|edit, args}` (agent-inbox),
 * true and false, words such as "approve" and "reject", and `{[id]: any of these}` with our ids; all of them also
 * inside `{[interruptId]: ...}`.
 */
export function splitInterruptAnswer(
  value: unknown,
  ids: readonly string[],
  interruptId: string | undefined,
): SplitAnswer {
  if (isRecord(value)) {
    if (interruptId !== undefined && Object.hasOwn(value, interruptId)) {
      return splitInterruptAnswer(value[interruptId], ids, undefined);
    }
    const named = ids.filter((id) => Object.hasOwn(value, id)).map((id) => [id, toAnswer(unwrap(value[id]))] as const);
    if (named.length > 0) return { named: new Map(named), plain: [] };
  }
  const list = listAnswers(value);
  const named = new Map(
    list.flatMap((item) => {
      const id = readName(item);
      return id === undefined ? [] : [[id, toAnswer(item)] as const];
    }),
  );
  // Who names one question knows their ids: what carries no name is then meant for none of them.
  return named.size > 0 ? { named, plain: [] } : { named, plain: list.map(toAnswer) };
}

function listAnswers(value: unknown): unknown[] {
  if (isRecord(value) && Array.isArray(value.decisions)) return value.decisions;
  return Array.isArray(value) ? value : [value];
}

/** One question's answer may itself be a list of one. */
function unwrap(value: unknown): unknown {
  const list = listAnswers(value);
  return list.length === 1 ? list[0] : value;
}

function readName(item: unknown): string | undefined {
  for (const key of NAMES) {
    const id = readText(item, key);
    if (id !== undefined) return id;
  }
  return undefined;
}

function toAnswer(raw: unknown): Answer {
  return { raw, decision: readDecision(raw) };
}

function readDecision(value: unknown): PlainDecision | undefined {
  if (typeof value === "boolean") return fromWord(String(value), {});
  if (typeof value === "string") return fromWord(value, {});
  if (!isRecord(value)) return undefined;
  if (typeof value.approved === "boolean") return fromWord(String(value.approved), value);
  const word = readText(value, "type") ?? readText(value, "decision");
  return word === undefined ? undefined : fromWord(word, value);
}

function fromWord(text: string, value: Record<string, unknown>): PlainDecision | undefined {
  const word = text.trim().toLowerCase();
  if (APPROVE.has(word)) return { type: "approve", always: value.always === true };
  if (DECLINE.has(word) || RESPOND.has(word)) return { type: "decline", message: readMessage(value) };
  return EDIT.has(word) ? readEdit(value) : undefined;
}

function readMessage(value: Record<string, unknown>): string | undefined {
  return (
    readText(value, "message") ?? readText(value, "args") ?? readText(value, "reason") ?? readText(value, "response")
  );
}

/** LangChain says `editedAction: {name, args}`, its Python side `edited_action`, agent-inbox `args: {action, args}`. */
function readEdit(value: Record<string, unknown>): PlainDecision | undefined {
  const action = value.editedAction ?? value.edited_action ?? value.args ?? value.arguments;
  if (!isRecord(action)) return undefined;
  const name = readText(action, "name") ?? readText(action, "action");
  const inner = action.args ?? action.arguments;
  if (name !== undefined && isRecord(inner)) return { type: "edit", name, arguments: inner };
  if (value.editedAction !== undefined || value.edited_action !== undefined) {
    return isRecord(inner) ? { type: "edit", name: undefined, arguments: inner } : undefined;
  }
  return { type: "edit", name: undefined, arguments: action };
}
