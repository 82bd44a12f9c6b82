import type { Question } from "./interrupt-answer.ts";

/**
 * The value of an interrupt. It says the same thing in every dialect in use, so that agent-chat-ui, agent-inbox and
 * code written for LangChain's own human-in-the-loop middleware all show it: action requests and review configs in both
 * spellings, arguments under both names, and for a single question agent-inbox's older shape. `svc` is ours. `notice`
 * says why the last answer did not count.
 */
export function createInterruptPayload(questions: readonly Question[], notice?: string): Record<string, unknown> {
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
      notice: notice ?? null,
      questions: questions.map(({ id, expiresAt, details }) => ({ id, expiresAt, ...details })),
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
