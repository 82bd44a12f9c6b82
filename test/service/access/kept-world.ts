import type { KeyScopes } from "../../../src/shared/wire/key-scopes.ts";

/** What a caller may find, worked out anew for each question from what the owner has set up. */

type Level = "read" | "write" | "delete";

interface Account {
  readonly id: string;
  readonly app: string;
  label: string;
  state: "healthy" | "reauth_required" | "error";
  isDefault: boolean;
}

/** Everything that an owner, or time, can change. */
export interface World {
  time: number;
  readonly keys: { scopes: KeyScopes; expiresAt: number | null; isRevoked: boolean }[];
  /** `key`: the only key it is for. */
  rules: { readonly id: string; readonly effect: "block" | "ask"; readonly tool: string; readonly key?: number }[];
  accounts: Account[];
  /** The added app: its name, and the ids of its reads; undefined when it is not there. */
  wiki: { readonly name: string; readonly ids: readonly string[] } | undefined;
}

/** Apps that the service starts with: the level of each action. */
export const APPS: Readonly<Record<string, Readonly<Record<string, Level>>>> = {
  lab: { look: "read", put: "write" },
  pad: { peek: "read", wipe: "delete" },
};
/** Actions that the added app may have. */
export const WIKI_IDS = ["ask", "find", "learn"] as const;
/** The name of every tool there may be. */
export const TOOLS: readonly string[] = [
  ...Object.entries(APPS).flatMap(([app, actions]) => Object.keys(actions).map((id) => `${app}_${id}`)),
  ...WIKI_IDS.map((id) => `wiki_${id}`),
];

interface Tool {
  readonly name: string;
  readonly app: string;
  readonly appName: string;
  readonly id: string;
  readonly level: Level;
}

/** The question of a caller; `tool` is a name that may not exist. */
export interface Question {
  readonly what: "list" | "search" | "describe" | "execute" | "mcp search" | "mcp execute";
  readonly key: number;
  readonly tool: string;
}

function listTools({ wiki }: World): Tool[] {
  const own = Object.entries(APPS).flatMap(([app, actions]) =>
    Object.entries(actions).map(([id, level]) => ({ name: `${app}_${id}`, app, appName: app, id, level })),
  );
  const added = [...(wiki?.ids ?? [])].sort().map((id): Tool => {
    return { name: `wiki_${id}`, app: "wiki", appName: wiki?.name ?? "", id, level: "read" };
  });
  return [...own, ...added];
}

/** The rule that decides about a tool for a key. */
function findEffect({ rules }: World, { name, app }: Tool, key: number): "block" | "ask" | undefined {
  const fitting = rules.filter((rule) => (rule.key ?? key) === key && (rule.tool === name || rule.tool === `${app}/*`));
  return (["block", "ask"] as const).find((effect) => fitting.some((rule) => rule.effect === effect));
}

function listAccounts(world: World, app: string, { connections }: KeyScopes): Account[] {
  return world.accounts.filter((one) => one.app === app && (connections?.includes(one.id) ?? true));
}

/** Tools that exist for a key. */
function listAllowed(world: World, { integrations, levels, tools, connections }: KeyScopes): Tool[] {
  return listTools(world).filter(
    ({ name, app, level }) =>
      (integrations?.includes(app) ?? true) &&
      (levels?.includes(level) ?? true) &&
      (tools?.includes(name) ?? true) &&
      (connections === undefined || listAccounts(world, app, { connections }).length > 0),
  );
}

function chooseAccount(own: readonly Account[]): Account | undefined {
  return own.length === 1 ? own[0] : own.find(({ isDefault }) => isDefault);
}

function nameState(own: readonly Account[]): string {
  return chooseAccount(own)?.state ?? (own.length === 0 ? "not_connected" : "no_default");
}

const mustAsk = (world: World, tool: Tool, key: number) =>
  tool.level !== "read" || findEffect(world, tool, key) === "ask";

/** The answer to a question, in the form of `readAnswer`. */
export function answer(world: World, { what, key, tool }: Question): unknown {
  const known = world.keys[key];
  if (known === undefined || known.isRevoked || (known.expiresAt ?? Number.POSITIVE_INFINITY) <= world.time) return 401;
  const { scopes } = known;
  const allowed = listAllowed(world, scopes);
  const shown = allowed.filter((one) => findEffect(world, one, key) !== "block");
  if (what === "execute" || what === "mcp execute") {
    const code = judgeCall(world, { tool: allowed.find(({ name }) => name === tool), key, scopes });
    return what === "execute" ? code : code === "ok";
  }
  if (what === "describe") {
    const found = shown.find(({ name }) => name === tool);
    if (found === undefined) return 404;
    const accounts = listAccounts(world, found.app, scopes);
    const own = accounts.map(({ id, label, isDefault, state }) => [id, label, isDefault, state]);
    return [found.appName, mustAsk(world, found, key), own];
  }
  return shown.map((one) => {
    const own = listAccounts(world, one.app, scopes);
    if (what === "mcp search") return [`${one.app}/${one.id}`, own.length > 0, nameState(own)];
    return [
      one.name,
      one.appName,
      mustAsk(world, one, key),
      own.length,
      chooseAccount(own)?.id ?? null,
      nameState(own),
    ];
  });
}

function judgeCall(
  world: World,
  { tool, key, scopes }: { tool: Tool | undefined; key: number; scopes: KeyScopes },
): string {
  if (tool === undefined) return "tool_not_found";
  const own = listAccounts(world, tool.app, scopes);
  if (own.length === 0) return "needs_connection";
  const account = chooseAccount(own);
  if (account === undefined) return "ambiguous_connection";
  if (findEffect(world, tool, key) === "block") return "blocked_by_rule";
  if (account.state === "reauth_required") return "needs_reauth";
  if (account.state === "error") return "integration_misconfigured";
  return mustAsk(world, tool, key) ? "confirmation_required" : "ok";
}
