import { isRecord } from "../../base/json.ts";
import { type JournalRecord, readJournalRecord } from "../../calls/journal/journal-record.ts";
import { readText } from "./graph-config.ts";
import type { Question } from "./interrupt-answer.ts";
import { toCarriedRecord } from "./task-journal.ts";

/** One question put earlier in the same task, and which of its parts had an answer that counted. */
export interface PastQuestion {
  /** Whose question it was: the tool call's id, or the batch's. */
  readonly caller: string;
  readonly asked: readonly string[];
  readonly counted: readonly string[];
}

/** The part of a payload that is read again when the run is resumed. */
export interface ShownQuestion {
  readonly caller: string;
  readonly asked: readonly string[];
  /** ISO times by question id. */
  readonly expiresAt: Readonly<Record<string, unknown>>;
  readonly past: readonly PastQuestion[];
  /** Calls that the runs of the task have sent. */
  readonly sent: readonly JournalRecord[];
}

/** Where and when a question is put. */
export interface PayloadContext {
  /** Name of the graph's task. */
  readonly task: string;
  readonly caller: string;
  readonly past: readonly PastQuestion[];
  readonly sent: Iterable<JournalRecord>;
  readonly notice: string | undefined;
}

/**
 * The value of an interrupt. It says the same thing in every dialect in use, so that agent-chat-ui, agent-inbox and
 * code written for LangChain's own human-in-the-loop middleware all show it: action requests and review configs in both
 * spellings, arguments under both names, and for a single question agent-inbox's older shape. `svc` is ours.
 */
export function createInterruptPayload(
  questions: readonly Question[],
  { task, caller, past, sent, notice }: PayloadContext,
): Record<string, unknown> {
  const describe = (text: string) => (notice === undefined ? text : `${notice}\n\n${text}`);
  const requests = questions.map(({ id, action }) => ({
    id,
    name: action.name,
    args: action.args,
    arguments: action.args,
    description: describe(action.description),
  }));
  const configs = questions.map(({ action }) => ({
    actionName: action.name,
    action_name: action.name,
    allowedDecisions: [...action.decisions],
    allowed_decisions: [...action.decisions],
  }));
  const [only, ...others] = questions;
  return {
    actionRequests: requests,
    action_requests: requests,
    reviewConfigs: configs,
    review_configs: configs,
    ...(only === undefined || others.length > 0 ? {} : createInboxShape(only, describe)),
    svc: {
      version: 1,
      task,
      caller,
      notice: notice ?? null,
      questions: questions.map(({ id, expiresAt, details }) => ({ id, expiresAt, ...details })),
      past: past.map((item) => ({ ...item })),
      sent: [...sent].map(toCarriedRecord),
    },
  };
}

function createInboxShape({ action }: Question, describe: (text: string) => string) {
  return {
    action_request: { action: action.name, args: action.args },
    config: {
      allow_accept: action.decisions.includes("approve"),
      allow_edit: action.decisions.includes("edit"),
      allow_respond: true,
      allow_ignore: action.decisions.includes("reject"),
    },
    description: describe(action.description),
  };
}

/** Reads a payload back; undefined when it is not one of ours, or was put in another task, as by an agent inside of it. */
export function readShownQuestion(value: unknown, task: string): ShownQuestion | undefined {
  const svc: unknown = isRecord(value) ? value.svc : undefined;
  if (!isRecord(svc) || svc.version !== 1 || svc.task !== task) return undefined;
  if (!Array.isArray(svc.questions) || !Array.isArray(svc.past) || !Array.isArray(svc.sent)) return undefined;
  const ids = svc.questions.map((question: unknown) => [readText(question, "id") ?? "", question] as const);
  return {
    caller: readText(svc, "caller") ?? "",
    asked: ids.map(([id]) => id),
    expiresAt: Object.fromEntries(ids.map(([id, question]) => [id, readText(question, "expiresAt")])),
    past: svc.past.map((item: unknown) => ({
      caller: readText(item, "caller") ?? "",
      asked: readTexts(item, "asked"),
      counted: readTexts(item, "counted"),
    })),
    sent: svc.sent.flatMap((item: unknown) => readJournalRecord(item) ?? []),
  };
}

function readTexts(holder: unknown, key: string): string[] {
  const list: unknown = isRecord(holder) ? holder[key] : undefined;
  return Array.isArray(list) ? list.filter((item) => typeof item === "string") : [];
}
