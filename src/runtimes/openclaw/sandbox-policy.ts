import { findHidingRules, type HidingRule, listAgents, type OwnedTool, readPath } from "./tool-policy.ts";

/** A rule that holds in the host's sandbox. */
export interface SandboxRule {
  readonly rule: HidingRule;
  /** Dotted path of the lists that decide, where the tools can be named. */
  readonly scope: string;
  /** True when no agent is known to run outside the sandbox. */
  readonly isGeneral: boolean;
}

const LISTS = "tools.sandbox.tools";
const MODE = "sandbox.mode";

/**
 * The rules that hide any of these tools from agents in the host's sandbox. There the host offers a short list of its
 * own, which names no tool of a plugin, until `allow` replaces it or `alsoAllow` widens it. An agent's lists stand in for
 * the general ones, each by itself.
 */
export function findSandboxRules(config: unknown, tools: readonly OwnedTool[]): SandboxRule[] {
  const general = readPath(config, "agents", "defaults", "sandbox", "mode");
  const agents = listAgents(config);
  const isEverywhere = general === "all" && agents.every(({ agent }) => readMode(agent) === undefined);
  const places = [
    { path: "agents.defaults", mode: general, agent: undefined, isGeneral: isEverywhere },
    ...agents
      .filter(({ agent }) => readMode(agent) !== undefined || readPath(agent, "tools", "sandbox") !== undefined)
      .map(({ path, agent }) => ({ path, mode: readMode(agent) ?? general, agent, isGeneral: false })),
  ];
  return places.flatMap(({ path, mode, agent, isGeneral }) => {
    if (mode !== "all" && mode !== "non-main") return [];
    const choose = (list: string) => chooseList(config, { path, agent }, list);
    const [allow, also, deny] = [choose("allow"), choose("alsoAllow"), choose("deny")];
    const find = (name: string, list: Chosen) => findHidingRules({ [name]: list.value }, list.path, tools);
    const widened = { ...allow, value: [...(allow.value ?? []), ...(also.value ?? [])] };
    const hiding = [
      ...(allow.value === undefined ? findHidingByDefault({ path, mode }, also, tools) : []),
      ...(allow.value === undefined || allow.value.length === 0 ? [] : find("allow", widened)),
      ...find("deny", deny),
    ];
    return hiding.map((rule) => ({ rule, scope: rule.kind === "deny" ? deny.path : also.path, isGeneral }));
  });
}

interface Chosen {
  readonly path: string;
  readonly value: readonly unknown[] | undefined;
}

function chooseList(config: unknown, { path, agent }: { path: string; agent: unknown }, name: string): Chosen {
  const own = readPath(agent, "tools", "sandbox", "tools", name);
  if (Array.isArray(own)) return { path: `${path}.${LISTS}`, value: own };
  const general = readPath(config, "tools", "sandbox", "tools", name);
  return { path: LISTS, value: Array.isArray(general) ? general : undefined };
}

/** The host's own list stands for a profile that none of our tools is in. */
function findHidingByDefault(
  { path, mode }: { path: string; mode: string },
  also: Chosen,
  tools: readonly OwnedTool[],
): HidingRule[] {
  const rules = findHidingRules({ profile: "sandbox", alsoAllow: also.value }, path, tools);
  return rules.map((rule) => ({ ...rule, path: `${path}.${MODE}`, kind: "sandbox", value: mode }));
}

function readMode(agent: unknown): unknown {
  return readPath(agent, "sandbox", "mode");
}
