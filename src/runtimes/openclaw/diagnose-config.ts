import { isAbsolute, resolve } from "node:path";
import type { Finding } from "./finding.ts";
import { findSandboxRules, type SandboxRule } from "./sandbox-policy.ts";
import { findHidingRules, type HidingRule, listToolScopes, type OwnedTool } from "./tool-policy.ts";

/** Plugin ids of ours: the plugin itself, and the generated one that holds the action tools. */
export const PLUGIN_IDS = { main: "svc", actions: "svc-actions" } as const;

/** What the configuration is judged against. */
export interface ConfigSubject {
  /** The host's configuration as parsed; nothing in it is trusted. */
  readonly config: unknown;
  /** Every tool that should be visible. */
  readonly tools: readonly OwnedTool[];
  /** Folder of the generated plugin. */
  readonly companion: string;
  /** True when there are action tools, so that the generated plugin is needed. */
  readonly hasActions: boolean;
}

type Values = Readonly<Record<string, unknown>>;

/** What the host's configuration does to our plugins and tools; a single `ok` finding when nothing stands in the way. */
export function diagnoseConfig(subject: ConfigSubject): Finding[] {
  const found = [...diagnosePlugins(subject), ...diagnosePolicy(subject)];
  if (found.length > 0) return found;
  return [
    { id: "config", level: "ok", text: "OpenClaw's configuration loads the plugin and hides none of its tools." },
  ];
}

function diagnosePlugins({ config, companion, hasActions }: ConfigSubject): Finding[] {
  const plugins = readRecord(readRecord(config).plugins);
  if (plugins.enabled === false) {
    return [fail("plugins.enabled", "All plugins are switched off.", "openclaw config set plugins.enabled true")];
  }
  const ids = hasActions ? [PLUGIN_IDS.main, PLUGIN_IDS.actions] : [PLUGIN_IDS.main];
  const found = ids.flatMap((id) => diagnosePlugin(plugins, id));
  const paths = readTexts(readRecord(plugins.load).paths);
  if (hasActions && !paths.some((path) => isAbsolute(path) && resolve(path) === resolve(companion))) {
    const text = `The folder of the action tools (${companion}) is not in plugins.load.paths.`;
    found.push(fail("companion", text, "openclaw svc sync"));
  }
  return found;
}

function diagnosePlugin(plugins: Values, id: string): Finding[] {
  if (readTexts(plugins.deny).includes(id)) {
    return [
      fail("plugins.deny", `plugins.deny names "${id}".`, `Remove it there, then run: openclaw plugins enable ${id}`),
    ];
  }
  const allowed = readTexts(plugins.allow);
  if (allowed.length > 0 && !allowed.includes(id)) {
    const fix = `Add "${id}" to plugins.allow in openclaw.json.`;
    return [fail("plugins.allow", `plugins.allow is set and does not name "${id}", so it is not loaded.`, fix)];
  }
  if (readRecord(readRecord(plugins.entries)[id]).enabled === false) {
    return [fail("plugins.entries", `The plugin "${id}" is switched off.`, `openclaw plugins enable ${id}`)];
  }
  return [];
}

function diagnosePolicy({ config, tools }: ConfigSubject): Finding[] {
  const rules = listToolScopes(config).flatMap(({ path, scope }) =>
    findHidingRules(scope, path, tools).map((rule) => ({ rule, scope: path, isGeneral: path === "tools" })),
  );
  return [...rules, ...findSandboxRules(config, tools)].map((rule) => describeRule(rule, tools.length));
}

function describeRule({ rule, scope, isGeneral }: SandboxRule, total: number): Finding {
  const { path, kind, value, hidden } = rule;
  const isAll = hidden.length === total;
  const what = isAll ? "every tool of svc" : `${hidden.length} of ${total} tools of svc, ${hidden[0]?.name} for one`;
  // Which agents use a narrower scope is not known here, so only the general one is a failure.
  const level = isAll && isGeneral ? "fail" : "warn";
  const ids = [...new Set(hidden.map(({ plugin }) => plugin))];
  return { id: path, level, text: `${path} (${value}) hides ${what}.`, fix: describeFix(kind, scope, ids) };
}

function describeFix(kind: HidingRule["kind"], scope: string, ids: readonly string[]): string {
  const list = JSON.stringify(ids);
  if (kind === "deny") return `Remove what matches them from ${scope}.deny.`;
  if (kind === "sandbox") {
    return `Show them in the sandbox: openclaw config set ${scope}.alsoAllow '${list}' (keep what stands there already).`;
  }
  if (kind === "allow") return `Add ${ids.map((id) => `"${id}"`).join(" and ")} to ${scope}.allow.`;
  return `Add them beside the profile: openclaw config set ${scope}.alsoAllow '${list}' (keep what stands there already).`;
}

function fail(id: string, text: string, fix: string): Finding {
  return { id, level: "fail", text, fix };
}

function readRecord(value: unknown): Values {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Values) : {};
}

function readTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : [];
}
