import { isRecord } from "../../../shared/base/json.ts";
import type { ApprovalRequest } from "../../calls/ask/request.ts";
import type { ConnectionQuestion } from "../../calls/pipeline.ts";
import type { Question } from "./interrupt-answer.ts";

/** One question of an interrupt in our own words; its arguments are those of the action request of the same id. */
export type InterruptQuestion = {
  readonly id: string;
  /** ISO time after which an answer no longer counts. */
  readonly expiresAt: string;
} & (
  | ({ readonly kind: "approval" } & Omit<ApprovalRequest, "id" | "expiresAt" | "arguments">)
  | ({ readonly kind: "connection"; readonly tool: string } & Omit<ConnectionQuestion, "toolName">)
);

/** The value of an interrupt, as far as it is the same for all; LangChain's `HITLRequest`, and ours. */
export interface ApprovalInterrupt {
  readonly actionRequests: {
    readonly id: string;
    name: string;
    args: Record<string, unknown>;
    /** A card, as Markdown. */
    description: string;
  }[];
  readonly reviewConfigs: { actionName: string; allowedDecisions: ("approve" | "edit" | "reject")[] }[];
  readonly svc: {
    readonly version: 1;
    /** Why the last answer did not count. */
    readonly notice: string | null;
    /** In the order of `actionRequests`. */
    readonly questions: readonly InterruptQuestion[];
  };
}

/** True for the value of an interrupt that one of our tools raised, or the approval middleware. */
export function isApprovalInterrupt(value: unknown): value is ApprovalInterrupt {
  if (!isRecord(value) || !isRecord(value.svc)) return false;
  const { version, questions } = value.svc;
  return version === 1 && Array.isArray(questions) && Array.isArray(value.actionRequests);
}

/** Characters of arguments, as JSON, that are repeated for every dialect. */
const MOST_REPEATED = 4_000;

/**
 * The value of an interrupt. It says the same thing in every dialect in use: action requests and review configs in both
 * spellings, for agent-chat-ui and code written for LangChain's own human-in-the-loop middleware. Arguments of up to 4,000
 * characters are there for agent-inbox too, as `arguments`, and for a single question in its older shape; longer ones
 * stand there twice. `notice` says why the last answer did not count.
 */
export function createInterruptPayload(
  questions: readonly Question[],
  notice?: string,
): ApprovalInterrupt & Record<string, unknown> {
  const describe = (text: string) => (notice === undefined ? text : `${notice}\n\n${text}`);
  const isShort = JSON.stringify(questions.map(({ action }) => action.args)).length <= MOST_REPEATED;
  const requests = questions.map(({ id, action: { name, args, description } }) => {
    return { id, name, args, description: describe(description) };
  });
  const configs = questions.map(({ action }) => {
    return { actionName: action.name, allowedDecisions: [...action.decisions] };
  });
  const [only, ...others] = questions;
  return {
    actionRequests: requests,
    reviewConfigs: configs,
    action_requests: isShort ? requests.map((request) => ({ ...request, arguments: request.args })) : requests,
    review_configs: configs.map((config) => {
      return { action_name: config.actionName, allowed_decisions: config.allowedDecisions };
    }),
    ...(only === undefined || others.length > 0 || !isShort ? {} : createInboxShape(only, describe)),
    svc: {
      version: 1,
      notice: notice ?? null,
      questions: questions.map(({ id, expiresAt, details }) => ({ id, expiresAt, ...details }) as InterruptQuestion),
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
