import { isRecord } from "../../base/json.ts";
import { createStableId } from "../../calls/ask/request.ts";
import type { ConnectionAnswer, ConnectionQuestion } from "../../calls/pipeline.ts";
import { fence, IN_FENCE, layOutFacts } from "../../wire/card-layout.ts";
import { drawPart, drawText } from "../../wire/card-text.ts";
import type { Question } from "./question.ts";
import type { Answer } from "./read-interrupt-answer.ts";
import { readText } from "./read-value.ts";

const COLUMNS = 64;

/** A human's choice of an account; `none` when they chose none. */
export type AccountChoice = Exclude<ConnectionAnswer, string> | { readonly none: true };

/** "Which account?" as a question of a graph. Answers may give the id or the label, and `remember: true`. */
export function createConnectionQuestion(callId: string, question: ConnectionQuestion, expiresAt: string): Question {
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
      decisions: ["approve", "edit", "reject"],
    },
    details: { kind: "connection", tool: toolName, integration, choices: choices.map((choice) => ({ ...choice })) },
    read: (answer) => readChoice(answer, question, preset),
  };
}

function readChoice(answer: Answer, question: ConnectionQuestion, preset: string): AccountChoice | undefined {
  const { raw, decision } = answer;
  if (decision?.type === "approve") return preset === "" ? { none: true } : { id: preset, remember: decision.always };
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
export function isAccountChoice(value: unknown): value is AccountChoice {
  if (!isRecord(value)) return false;
  return value.none === true || (typeof value.id === "string" && typeof value.remember === "boolean");
}
