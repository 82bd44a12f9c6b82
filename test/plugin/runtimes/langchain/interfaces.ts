/**
 * What two public interfaces accept and send, written down from how they behave: agent-chat-ui of July 2026 and
 * agent-inbox of August 2026. Nothing here is their code.
 */

/** What a human sees of one action. */
export interface ShownAction {
  readonly name: string;
  readonly args: unknown;
  readonly description: unknown;
  readonly buttons: readonly string[];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isFilledList = (value: unknown): value is unknown[] => Array.isArray(value) && value.length > 0;

/** agent-chat-ui: snake_case lists; every action needs a config of its name with decisions it knows. */
export function showInChatUi(value: unknown): ShownAction[] | "not recognised" {
  if (!isObject(value) || !isFilledList(value.action_requests) || !isFilledList(value.review_configs)) {
    return "not recognised";
  }
  const configs = value.review_configs.filter(isObject);
  const actions = value.action_requests.filter(isObject);
  const known = ["approve", "edit", "reject"];
  const shown = actions.map((action): ShownAction | undefined => {
    const config = configs.find((candidate) => candidate.action_name === action.name);
    const decisions = config?.allowed_decisions;
    if (typeof action.name !== "string" || !isObject(action.args) || !isFilledList(decisions)) return undefined;
    if (!decisions.every((decision) => known.includes(String(decision)))) return undefined;
    return { name: action.name, args: action.args, description: action.description, buttons: decisions.map(String) };
  });
  return shown.every((action) => action !== undefined) ? shown : "not recognised";
}

/** agent-inbox: its own older shape, alone or as the first of a list; or the lists, whose arguments it reads as `arguments`. */
export function showInInbox(value: unknown): ShownAction[] | "improper schema" {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  if (!isObject(first)) return "improper schema";
  const { action_request: action, config } = first;
  if (isObject(action) && isObject(config) && typeof action.action === "string") {
    const flags = ["allow_accept", "allow_edit", "allow_respond", "allow_ignore"] as const;
    if (!flags.every((flag) => typeof config[flag] === "boolean")) return "improper schema";
    const buttons = flags.filter((flag) => config[flag] === true).map((flag) => flag.slice("allow_".length));
    return [{ name: action.action, args: action.args, description: first.description, buttons }];
  }
  if (!isFilledList(first.action_requests) || !isFilledList(first.review_configs)) return "improper schema";
  return first.action_requests.filter(isObject).map((request) => ({
    name: String(request.name),
    args: request.arguments,
    description: request.description,
    buttons: [],
  }));
}

/** What LangChain's own middleware documents for JavaScript. */
export function showInLangChain(value: unknown): ShownAction[] | "not recognised" {
  if (!isObject(value) || !isFilledList(value.actionRequests) || !isFilledList(value.reviewConfigs)) {
    return "not recognised";
  }
  const configs = value.reviewConfigs.filter(isObject);
  return value.actionRequests.filter(isObject).map((request) => ({
    name: String(request.name),
    args: request.args,
    description: request.description,
    buttons: (configs.find((config) => config.actionName === request.name)?.allowedDecisions as string[]) ?? [],
  }));
}
