/** A tool and the plugin it belongs to. */
export interface OwnedTool {
  readonly name: string;
  readonly plugin: string;
}

/** A rule of the host's configuration that hides tools. */
export interface HidingRule {
  /** Dotted path of the setting. */
  readonly path: string;
  readonly hidden: readonly OwnedTool[];
  /** What the setting holds, for the fix. */
  readonly kind: "profile" | "allow" | "deny" | "sandbox";
  readonly value: string;
}

type Values = Readonly<Record<string, unknown>>;

/** Profiles that every tool of ours names in its metadata, so that they show it. */
const SHOWN_BY_PROFILE: ReadonlySet<string> = new Set(["full", "coding", "messaging", "minimal"]);

/**
 * The rules of one scope of the host's tool policy (`tools`, or the `tools` of an agent) that hide any of these tools.
 * Follows the host: profile first, which `alsoAllow` widens, then `allow`, then `deny`.
 */
export function findHidingRules(scope: unknown, path: string, tools: readonly OwnedTool[]): HidingRule[] {
  if (!isRecord(scope)) return [];
  const rules: HidingRule[] = [];
  const note = (kind: HidingRule["kind"], member: string, value: string, hidden: readonly OwnedTool[]) => {
    if (hidden.length > 0) rules.push({ path: `${path}.${member}`, kind, value, hidden });
  };
  const { profile } = scope;
  const [allow, alsoAllow, deny] = [readTexts(scope.allow), readTexts(scope.alsoAllow), readTexts(scope.deny)];
  if (typeof profile === "string" && !SHOWN_BY_PROFILE.has(profile)) {
    const shown = [...(alsoAllow ?? []), ...(allow ?? [])];
    note(
      "profile",
      "profile",
      profile,
      tools.filter((tool) => !isNamed(tool, shown)),
    );
  }
  if (allow !== undefined && allow.length > 0) {
    note(
      "allow",
      "allow",
      JSON.stringify(allow),
      tools.filter((tool) => !isNamed(tool, allow)),
    );
  }
  if (deny !== undefined)
    note(
      "deny",
      "deny",
      JSON.stringify(deny),
      tools.filter((tool) => isNamed(tool, deny)),
    );
  return rules;
}

/** Every scope of the tool policy in a host's configuration that can be told beforehand, with its path. */
export function listToolScopes(config: unknown): { readonly path: string; readonly scope: unknown }[] {
  if (!isRecord(config)) return [];
  return [
    ...listScopes(config.tools, "tools"),
    { path: "tools.subagents.tools", scope: readPath(config, "tools", "subagents", "tools") },
    { path: "agents.defaults.tools", scope: readPath(config, "agents", "defaults", "tools") },
    ...listAgents(config).flatMap(({ path, agent }) => listScopes(readPath(agent, "tools"), `${path}.tools`)),
  ];
}

/** A scope with the narrower ones in it, which count for one model or one sender. */
function listScopes(scope: unknown, path: string): { readonly path: string; readonly scope: unknown }[] {
  const within = ["byProvider", "toolsBySender"].flatMap((member) =>
    listEntries(readPath(scope, member)).map(([name, inner]) => ({ path: `${path}.${member}.${name}`, scope: inner })),
  );
  return [{ path, scope }, ...within];
}

/** The agents a host's configuration names, each with its path. */
export function listAgents(config: unknown): { readonly path: string; readonly agent: unknown }[] {
  const agents = readPath(config, "agents");
  const list = readPath(agents, "list");
  return [
    ...listEntries(readPath(agents, "entries")).map(([name, agent]) => ({ path: `agents.entries.${name}`, agent })),
    ...(Array.isArray(list) ? list : []).map((agent: unknown, index) => ({ path: `agents.list[${index}]`, agent })),
  ];
}

function isNamed({ name, plugin }: OwnedTool, entries: readonly string[]): boolean {
  return entries.some((entry) => {
    const wanted = entry.trim().toLowerCase();
    return wanted === "group:plugins" || wanted === plugin || matches(wanted, name.toLowerCase());
  });
}

/** The host's patterns know `*` only. */
function matches(pattern: string, name: string): boolean {
  const parts = pattern.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`).test(name);
}

function listEntries(value: unknown): [string, unknown][] {
  return isRecord(value) ? Object.entries(value) : [];
}

/** What stands at a path of a value that nothing is known of; undefined when nothing does. */
export function readPath(value: unknown, ...path: readonly string[]): unknown {
  let found: unknown = value;
  for (const name of path) found = isRecord(found) ? found[name] : undefined;
  return found;
}

function readTexts(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : undefined;
}

function isRecord(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
