import { isRecord } from "../../../shared/base/json.ts";
import { fence, IN_FENCE, layOutFacts } from "../../../shared/card/card-layout.ts";
import { drawPart, drawText } from "../../../shared/card/card-text.ts";
import { createApprovalCard } from "../../calls/ask/card.ts";
import { type ApprovalDecision, type ApprovalRequest, type Approver, createStableId } from "../../calls/ask/request.ts";
import type { ConnectionAnswer, ConnectionChooser, ConnectionQuestion, HumanChannel } from "../../calls/pipeline.ts";
import { readText } from "./graph-config.ts";
import { type Answer, Misread, type Question } from "./interrupt-answer.ts";

/** Puts one question to a human; undefined without an answer. */
export type AskQuestion = (question: Question) => Promise<unknown>;

/** The call that a channel asks for. */
export interface ChannelSubject {
  readonly callId: string;
  readonly now: () => number;
  /** Milliseconds a question stays open. */
  readonly ttlMs: number;
}

type Permission = Pick<Question, "isGranted" | "grant">;
type AnswerOptions = Parameters<Approver>[1];

/** Puts a call's questions to `ask`, and those without an answer to `others`. */
export function createHumanChannel(
  ask: AskQuestion,
  subject: ChannelSubject,
  others: Pick<HumanChannel, "approve" | "chooseConnection"> = {},
): { approve: (request: ApprovalRequest, options: Permission & AnswerOptions) => Promise<ApprovalDecision> } & {
  chooseConnection: ConnectionChooser;
} {
  return {
    async approve(request, options) {
      const decision = await ask(createApprovalQuestion(request, options));
      if (isApprovalDecision(decision)) return decision;
      if (others.approve === undefined) throw new Error("Nobody has answered yet.");
      return others.approve(request, options);
    },
    async chooseConnection(question, options) {
      const expiresAt = new Date(subject.now() + subject.ttlMs).toISOString();
      const choice = await ask(createConnectionQuestion(subject.callId, question, expiresAt));
      if (isAccountChoice(choice)) return "id" in choice ? choice : undefined;
      return others.chooseConnection?.(question, options);
    },
  };
}

/** Columns of a card that fit beside the arguments it shows. */
const COLUMNS = 64;

/** "May this call be made?" as a question of a graph. */
export function createApprovalQuestion(request: ApprovalRequest, { isGranted, grant }: Permission = {}): Question {
  const { id, expiresAt, arguments: args, ...rest } = request;
  return {
    id,
    expiresAt,
    action: {
      name: request.tool,
      args,
      description: drawCard(request),
      decisions: request.canEdit === false ? ["approve", "reject"] : ["approve", "edit", "reject"],
    },
    details: { kind: "approval", ...rest },
    isGranted,
    grant,
    read: (answer) => readApproval(request, answer),
  };
}

/** Interfaces render it as Markdown, some with HTML in it. Not all show long arguments beside it. */
const SHOW_ALL = "Read the arguments beside it or in the thread's state, or decline.";

function drawCard(request: ApprovalRequest): string {
  const options = { columns: COLUMNS, howToSeeAll: SHOW_ALL, isMarkdown: true };
  return createApprovalCard(request, options).join("\n");
}

function readApproval(
  { id, fingerprint, tool }: ApprovalRequest,
  answer: Answer,
): ApprovalDecision | Misread | undefined {
  const { decision, raw } = answer;
  if (decision === undefined) {
    // Words instead of a decision: nothing is run, and the model hears them.
    return typeof raw === "string" && raw.trim() !== ""
      ? { type: "decline", id, fingerprint, message: raw }
      : undefined;
  }
  if (decision.type === "approve") {
    return { type: "approve", id, fingerprint, ...(decision.always ? { always: true } : {}) };
  }
  if (decision.type === "decline") {
    const { message } = decision;
    return { type: "decline", id, fingerprint, ...(message === undefined ? {} : { message }) };
  }
  // Another tool is another call, which only the model can make.
  if (decision.name !== undefined && decision.name !== tool) {
    return new Misread(`An edit cannot change the tool: edit the arguments of ${tool}, or reject the call.`);
  }
  return { type: "edit", id, fingerprint, arguments: decision.arguments };
}

/** True for a decision {@link createApprovalQuestion} read, also after a detour through a graph's state. */
function isApprovalDecision(value: unknown): value is ApprovalDecision {
  return typeof value === "object" && value !== null && "fingerprint" in value && "type" in value && "id" in value;
}

/** True for a yes to a call, with other arguments too. */
export function isPermission(value: unknown): boolean {
  return isApprovalDecision(value) && value.type !== "decline";
}

/** True for a no. */
export function isDecline(value: unknown): boolean {
  return isApprovalDecision(value) ? value.type === "decline" : isRecord(value) && value.none === true;
}

/** A human's choice of an account; `none` if they chose no account. */
type AccountChoice = Exclude<ConnectionAnswer, string> | { readonly none: true };

/** "Which account?" as a question of a graph. Answers may give the id or the label, and `remember: true`. */
function createConnectionQuestion(callId: string, question: ConnectionQuestion, expiresAt: string): Question {
  const { choices, integration, toolName } = question;
  const preset = choices.find((choice) => choice.isDefault)?.id ?? "";
  const accounts = choices.map(({ id, label, isDefault }) => {
    return { line: `${drawPart(label, IN_FENCE)} (${drawText(id, IN_FENCE)})${isDefault ? ", the default" : ""}` };
  });
  const facts = [
    { label: "Tool", values: [{ line: drawText(toolName, IN_FENCE) }] },
    { label: "App", values: [{ line: drawText(integration, IN_FENCE) }] },
    { label: "Accounts", values: accounts },
  ];
  return {
    id: createStableId([callId, "connection", integration, ...choices.map(({ id }) => id)]),
    expiresAt,
    action: {
      name: "choose_account",
      args: { connection: preset, remember: false },
      description: [
        "Which account should this call use?",
        ...fence(layOutFacts(facts, { columns: COLUMNS, rows: Number.POSITIVE_INFINITY }).rows),
        'Set "connection" to an id or a label. Set "remember" to true to use it from now on.',
      ].join("\n"),
      decisions: preset === "" ? ["edit", "reject"] : ["approve", "edit", "reject"],
    },
    details: { kind: "connection", tool: toolName, integration, choices: choices.map((choice) => ({ ...choice })) },
    read: (answer) => readChoice(answer, question, preset),
  };
}

function readChoice(answer: Answer, question: ConnectionQuestion, preset: string): AccountChoice | Misread | undefined {
  const { raw, decision } = answer;
  if (decision?.type === "approve") {
    if (preset !== "") return { id: preset, remember: decision.always };
    return new Misread('No account is chosen: answer with an edit that sets "connection" to an id or a label.');
  }
  if (decision?.type === "edit") return findChoice(decision.arguments, question);
  if (decision?.type === "decline") return findChoice({ connection: decision.message }, question) ?? { none: true };
  return findChoice(isRecord(raw) ? raw : { connection: raw }, question);
}

function findChoice(given: Record<string, unknown>, question: ConnectionQuestion): AccountChoice | undefined {
  const text = readText(given, "connection") ?? readText(given, "connectionId") ?? readText(given, "account");
  const wanted = (text ?? (typeof given.connection === "number" ? String(given.connection) : "")).trim();
  const { choices } = question;
  const labelled = choices.filter((choice) => choice.label.toLowerCase() === wanted.toLowerCase());
  const found = choices.find((choice) => choice.id === wanted) ?? (labelled.length === 1 ? labelled[0] : undefined);
  return found === undefined ? undefined : { id: found.id, remember: given.remember === true };
}

/** True for a choice {@link createConnectionQuestion} read, also after a detour through a graph's state. */
function isAccountChoice(value: unknown): value is AccountChoice {
  if (!isRecord(value)) return false;
  return value.none === true || (typeof value.id === "string" && typeof value.remember === "boolean");
}
