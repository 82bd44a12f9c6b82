import { isRecord } from "../../../shared/base/json.ts";
import { digest, readText } from "./graph-config.ts";

/** The part of an answer that is meant for one question. `raw` is as it came. */
export interface Answer {
  readonly raw: unknown;
  /** Its meaning in the words that all interfaces share; undefined for other answers. */
  readonly decision: PlainDecision | undefined;
}

/** Says why an answer has no meaning for its question. */
export class Misread {
  readonly why: string;

  constructor(why: string) {
    this.why = why;
  }
}

/** A question to a human through a graph. `read` interprets an answer; {@link Misread} or undefined if it has no meaning. */
export interface Question {
  /** The same each time the call is made again. */
  readonly id: string;
  readonly action: {
    readonly name: string;
    readonly args: Record<string, unknown>;
    readonly description: string;
    readonly decisions: readonly ("approve" | "edit" | "reject")[];
  };
  /** ISO time. */
  readonly expiresAt: string;
  /** The question in our own words, for interfaces that know it. */
  readonly details: Readonly<Record<string, unknown>>;
  /** True while the journal knows of an earlier yes that was not used: without it, a yes counts only when it comes. */
  readonly isGranted?: boolean | undefined;
  /** Tells the journal of a yes. */
  readonly grant?: (() => Promise<void>) | undefined;
  read(answer: Answer): unknown;
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
  // A client that names one question knows the ids: unnamed parts then belong to no question.
  return named.size > 0 ? { named, plain: [] } : { named, plain: list.map(toAnswer) };
}

/** True for an answer that names one of these questions. */
export function namesAny(value: unknown, ids: readonly string[]): boolean {
  const { named } = splitInterruptAnswer(value, ids, undefined);
  return ids.some((id) => named.has(id));
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

/** A question that a human was shown. */
export interface ShownQuestion {
  /** Ids, in the order they were shown in. */
  readonly asked: readonly string[];
  /** ISO times by question id. */
  readonly expiresAt: Readonly<Record<string, string>>;
  /** LangGraph's id of it. */
  readonly interruptId?: string | undefined;
  /** False where another question of the task had the same id, as in older releases of LangGraph. */
  readonly isOwnId?: boolean | undefined;
  /**
   * Digests of the answers that were there before: LangGraph hands out its last plain answer again. Left out when they
   * could not be read.
   */
  readonly earlier?: readonly string[] | undefined;
}

/** How an answer came. */
export interface Delivery {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The interrupts that the run was resumed for, if by their ids. */
  readonly interrupts: ReadonlySet<string> | undefined;
  /** True if another question has taken an equal answer. */
  readonly isTaken: boolean;
}

/** Which questions have their answer. */
export interface Judged {
  readonly counted: ReadonlyMap<string, unknown>;
  /** Shown to the human with the questions that are still open. */
  readonly notice: string | undefined;
}

/**
 * Binds an answer to the questions it was given for. A part that names a question counts for exactly that one; a part
 * without a name counts only for what was `shown`, and once. An answer that does not count approves nothing.
 */
export function judgeAnswer(
  value: unknown,
  questions: readonly Question[],
  shown: ShownQuestion,
  { now, interrupts, isTaken }: Delivery,
): Judged {
  const order = shown.asked;
  const { named, plain } = splitInterruptAnswer(value, order, shown.interruptId);
  const isPlain = named.size === 0;
  if (isPlain && !isForInterrupt(value, shown, interrupts)) {
    if (interrupts !== undefined && !interrupts.has(shown.interruptId ?? "")) return refuse(FOR_OTHER);
    if (isTaken || shown.earlier?.includes(digest(value)) !== false) return refuse(SAME);
  }
  if (isPlain && plain.length !== order.length) {
    return refuse(`${order.length} answers are needed, in the order of the questions; ${plain.length} came.`);
  }
  const given = isPlain ? new Map(order.map((id, index) => [id, plain[index]] as const)) : named;
  const counted = new Map<string, unknown>();
  const notices = new Set<string>();
  for (const question of questions) {
    const answer = given.get(question.id);
    const expiresAt = shown.expiresAt[question.id];
    if (answer === undefined) {
      const isChanged = !shown.asked.includes(question.id);
      notices.add(isChanged ? "What would be done has changed since you were asked." : "This still needs an answer.");
    } else if (expiresAt !== undefined && !(now < Date.parse(expiresAt))) {
      notices.add("The answer came after the request had expired.");
    } else {
      const meaning = question.read(answer);
      if (meaning === undefined) notices.add("The answer could not be understood.");
      else if (meaning instanceof Misread) notices.add(meaning.why);
      else counted.set(question.id, meaning);
    }
  }
  return { counted, notice: notices.size === 0 ? undefined : [...notices].join(" ") };
}

const SAME =
  "The same answer came for another question. Name this question's id in the answer, answer by the id of its interrupt, or have the program use createApprovalMiddleware, which asks for all calls at once. An edit that changes nothing counts too.";
const FOR_OTHER = "It was given by the id of another interrupt.";

/** True for an answer that was given by LangGraph's id of the question. */
function isForInterrupt(value: unknown, shown: ShownQuestion, interrupts: Delivery["interrupts"]): boolean {
  const { interruptId: id, isOwnId } = shown;
  if (id === undefined || isOwnId === false) return false;
  return interrupts?.has(id) === true || (isRecord(value) && Object.hasOwn(value, id));
}

function refuse(notice: string): Judged {
  return { counted: new Map(), notice: `Your last answer did not count. ${notice}` };
}
