import { existsSync } from "node:fs";
import { join } from "node:path";
import { isRecord } from "../../../../shared/base/json.ts";
import { type ActionsFile, readActions } from "../actions/actions-file.ts";
import { loadsCompanion } from "../actions/apply-sync.ts";
import type { HostConfig } from "../host/host-api.ts";
import { askGateway } from "../host/load-sdk.ts";
import type { Places } from "../host/places.ts";
import { RELOAD_ACTIONS } from "../translate-tool.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

const SYNC = "openclaw svc sync";

/** The state of the action tools on this machine, which should belong to the account as far as it is known. */
export function diagnoseActions(
  places: Places,
  {
    principal,
    baseUrl,
    isPaired = true,
  }: { readonly principal?: string | undefined; readonly baseUrl?: string | undefined; readonly isPaired?: boolean },
): Finding[] {
  let damage = "";
  const file = readActions(places.actions, (reason) => {
    damage = `: ${reason}`;
  });
  if (file === undefined) {
    if (existsSync(places.actions))
      return [fail("actions", `The file of the action tools cannot be used${damage}.`, SYNC)];
    // Before pairing there is nothing to sync with.
    if (principal === undefined && baseUrl === undefined && !isPaired) return [];
    const text = "Not synced: no action has a tool of its own. svc_search_tools and svc_call_tool work without.";
    return [warn("actions", text, SYNC)];
  }
  const { actions, syncedAt } = file;
  const isForeign =
    principal === undefined ? baseUrl !== undefined && file.baseUrl !== baseUrl : file.principal !== principal;
  if (isForeign) {
    const text = `The ${actions.length} action tools were synced with another key (${file.baseUrl}); none of them is offered.`;
    return [fail("actions", text, SYNC)];
  }
  const missing = ["openclaw.plugin.json", "package.json"].filter((name) => !existsSync(join(places.companion, name)));
  if (actions.length > 0 && missing.length > 0) {
    const text = `The plugin that holds the action tools is not complete: ${missing.join(", ")} missing in ${places.companion}.`;
    return [fail("companion", text, SYNC)];
  }
  const text = `${actions.length} actions have a tool of their own, synced ${syncedAt}.`;
  return [ok("actions", text), ...describePending(file)];
}

/** Whether the host's configuration loads the plugin that a sync generated. */
export function diagnoseCompanion({ actions, companion }: Places, config: HostConfig): Finding[] {
  const hasActions = (readActions(actions)?.actions.length ?? 0) > 0;
  if (!hasActions || loadsCompanion(config, companion)) return [];
  const text = `OpenClaw's configuration does not load the plugin that holds the action tools (${companion}).`;
  return [fail("companion", text, SYNC)];
}

function describePending({ pending }: ActionsFile): Finding[] {
  const { added = [], changed = [], removed = [] } = pending ?? {};
  const counts = [`${added.length} new`, `${changed.length} changed and held back`, `${removed.length} gone`];
  const parts = counts.filter((part) => !part.startsWith("0 "));
  if (parts.length === 0) return [];
  return [warn("actions.changed", `The service's actions have changed since the sync: ${parts.join(", ")}.`, SYNC)];
}

/** Asks the running gateway; replaced in tests. */
export type AskGateway = typeof askGateway;

/** Where and how the tools are looked for. */
interface ToolsQuery {
  /** The action tools among those that are expected. */
  readonly actions: readonly string[];
  readonly config: HostConfig;
  /** Default: the latest conversation. */
  readonly sessionKey?: string | undefined;
  readonly ask?: AskGateway | undefined;
}

/**
 * Whether the host offers these tools to the model, by its own answer for one conversation. Nothing fails when the gateway
 * does not answer. Its answer alone does not tell why a tool is missing: a list of the configuration is named only where one
 * is set, and a profile leaves tools out of the answer that a run has.
 */
export async function diagnoseTools(
  expected: readonly string[],
  { actions, config, sessionKey, ask = askGateway }: ToolsQuery,
): Promise<Finding> {
  const key = sessionKey ?? (await findLatestSession(ask));
  const answer = key === undefined ? undefined : await ask("tools.effective", { sessionKey: key }, "operator.read");
  const offered = answer?.ok === true ? readToolIds(answer.payload) : undefined;
  if (offered === undefined) {
    const text =
      "Not checked which tools the model is offered: the gateway does not answer, or there is no conversation.";
    return ok("tools", text);
  }
  const missing = expected.filter((name) => !offered.has(name));
  const where = `tools of svc are offered in the conversation ${key}.`;
  if (missing.length === 0) return ok("tools", `All ${expected.length} ${where}`);
  const names = `${missing.slice(0, 3).join(", ")}${missing.length > 3 ? ", …" : ""}`;
  const count = expected.length - missing.length;
  const text = `${count === 0 ? "None" : count} of ${expected.length} ${where} Missing: ${names}.`;
  const lists = findLists(config);
  const isStale = missing.every((name) => actions.includes(name)) && missing.length < expected.length;
  if (lists.length > 0) {
    const fix = `Name svc and svc-actions in ${lists.join(" and ")} (docs/openclaw.md, Missing tools)`;
    const level = count === 0 ? fail : warn;
    return level("tools", text, isStale ? `${RELOAD_ACTIONS}. Are they missing after it? ${fix}.` : `${fix}.`);
  }
  if (isStale) return warn("tools", text, RELOAD_ACTIONS);
  const profile = readPath(config, ["tools", "profile"]);
  if (typeof profile !== "string") return warn("tools", text, "openclaw plugins reload svc");
  const unsure = `OpenClaw's list for the conversation ${key} leaves out ${missing.length} of ${expected.length} tools of svc`;
  return ok("tools", `${unsure} under tools.profile "${profile}"; runs have them, since svc declares them for it.`);
}

/** Settings of the host that are set and may hide tools. */
function findLists(config: HostConfig): string[] {
  const paths = ["plugins.allow", "tools.allow", "tools.deny"];
  const own = readAgents(config).flatMap(({ name, agent }) =>
    ["allow", "deny"]
      .filter((list) => isFilled(readPath(agent, ["tools", list])))
      .map((list) => `${name}.tools.${list}`),
  );
  return [...paths.filter((path) => isFilled(readPath(config, path.split(".")))), ...own];
}

const isFilled = (value: unknown) => Array.isArray(value) && value.length > 0;

/** Whether a sandbox of the host keeps tools of plugins from its runs: its own answer about tools does not know of it. */
export function diagnoseSandbox(config: HostConfig): Finding[] {
  const shared = readPath(config, ["agents", "defaults", "sandbox", "mode"]);
  const letsIn = (owner: unknown) =>
    ["allow", "alsoAllow"].some((list) => {
      const names = readPath(owner, ["tools", "sandbox", "tools", list]);
      return Array.isArray(names) && names.some((name) => ["svc", "group:plugins", "*"].includes(name));
    });
  const agents = [{ name: "agents.defaults", agent: {} }, ...readAgents(config)];
  const shut = agents.find(({ agent }) => {
    const mode = readPath(agent, ["sandbox", "mode"]) ?? shared;
    return typeof mode === "string" && mode !== "off" && !letsIn(config) && !letsIn(agent);
  });
  if (shut === undefined) return [];
  const text = `Runs in OpenClaw's sandbox have no tool of svc: ${shut.name}.sandbox.mode is set, and tools.sandbox.tools does not name svc.`;
  return [warn("sandbox", text, `openclaw config set tools.sandbox.tools.alsoAllow '["svc","svc-actions"]'`)];
}

/** The agents that have settings of their own, and the names of these. */
function readAgents(config: HostConfig): { readonly name: string; readonly agent: unknown }[] {
  const entries = readPath(config, ["agents", "entries"]);
  if (!isRecord(entries)) return [];
  return Object.entries(entries).map(([id, agent]) => ({ name: `agents.entries.${id}`, agent }));
}

function readPath(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((part, name) => (isRecord(part) ? part[name] : undefined), value);
}

async function findLatestSession(ask: AskGateway): Promise<string | undefined> {
  const answer = await ask("sessions.list", { limit: 1 }, "operator.read");
  const sessions = answer.ok && isRecord(answer.payload) ? answer.payload.sessions : undefined;
  const [latest] = Array.isArray(sessions) ? sessions : [];
  return isRecord(latest) && typeof latest.key === "string" ? latest.key : undefined;
}

/** Undefined for an answer of another form. */
function readToolIds(payload: unknown): ReadonlySet<unknown> | undefined {
  const groups = isRecord(payload) ? payload.groups : undefined;
  if (!Array.isArray(groups)) return undefined;
  const tools = groups.flatMap((group: unknown) => (isRecord(group) && Array.isArray(group.tools) ? group.tools : []));
  return new Set(tools.map((tool: unknown) => (isRecord(tool) ? tool.id : undefined)));
}
