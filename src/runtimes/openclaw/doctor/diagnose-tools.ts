import { existsSync } from "node:fs";
import { join } from "node:path";
import { isRecord } from "../../../base/json.ts";
import { type ActionsFile, readActions } from "../actions/actions-file.ts";
import { loadsCompanion } from "../actions/apply-sync.ts";
import type { HostConfig } from "../host/host-api.ts";
import { askGateway } from "../host/load-sdk.ts";
import type { Places } from "../host/places.ts";
import type { Finding } from "./diagnose-service.ts";

const SYNC = "openclaw svc sync";

/** Whose the actions should be; undefined where it is not known. */
interface ActionsOwner {
  readonly principal?: string | undefined;
  readonly baseUrl?: string | undefined;
}

/** The state of the action tools on this machine. */
export function diagnoseActions(places: Places, owner: ActionsOwner): Finding[] {
  let damage: string | undefined;
  const file = readActions(places.actions, (reason) => {
    damage = reason;
  });
  if (file === undefined) return [describeMissing(places, damage)];
  const { actions, syncedAt } = file;
  if (isForeign(file, owner)) {
    const text = `The ${actions.length} action tools were synced with another key (${file.baseUrl}); none of them is offered.`;
    return [{ id: "actions", level: "fail", text, fix: SYNC }];
  }
  const missing = ["openclaw.plugin.json", "package.json"].filter((name) => !existsSync(join(places.companion, name)));
  if (actions.length > 0 && missing.length > 0) {
    const text = `The plugin that holds the action tools is not complete: ${missing.join(", ")} missing in ${places.companion}.`;
    return [{ id: "companion", level: "fail", text, fix: SYNC }];
  }
  return [
    { id: "actions", level: "ok", text: `${actions.length} actions have a tool of their own, synced ${syncedAt}.` },
    ...describePending(file),
  ];
}

/** Whether the host's configuration loads the plugin that a sync generated. */
export function diagnoseCompanion({ actions, companion }: Places, config: HostConfig): Finding[] {
  const hasActions = (readActions(actions)?.actions.length ?? 0) > 0;
  if (!hasActions || loadsCompanion(config, companion)) return [];
  const text = `OpenClaw's configuration does not load the plugin that holds the action tools (${companion}).`;
  return [{ id: "companion", level: "fail", text, fix: SYNC }];
}

function describeMissing(places: Places, damage: string | undefined): Finding {
  if (damage === undefined && !existsSync(places.actions)) {
    const text = "Not synced: no action has a tool of its own. svc_search_tools and svc_call_tool work without.";
    return { id: "actions", level: "warn", text, fix: SYNC };
  }
  const why = damage === undefined ? "" : `: ${damage}`;
  return { id: "actions", level: "fail", text: `The file of the action tools cannot be used${why}.`, fix: SYNC };
}

function isForeign(file: ActionsFile, { principal, baseUrl }: ActionsOwner): boolean {
  return principal === undefined ? baseUrl !== undefined && file.baseUrl !== baseUrl : file.principal !== principal;
}

function describePending({ pending }: ActionsFile): Finding[] {
  if (pending === undefined) return [];
  const { added, changed, removed } = pending;
  const parts = [`${added.length} new`, `${changed.length} changed and held back`, `${removed.length} gone`].filter(
    (part) => !part.startsWith("0 "),
  );
  if (parts.length === 0) return [];
  const text = `The service's actions have changed since the sync: ${parts.join(", ")}.`;
  return [{ id: "actions.changed", level: "warn", text, fix: SYNC }];
}

/** Asks the running gateway; replaced in tests. */
export type AskGateway = typeof askGateway;

/**
 * Whether the host offers these tools to the model, by its own answer for one conversation: the one given, else the
 * latest. Nothing fails when the gateway does not answer.
 */
export async function diagnoseTools(
  expected: readonly string[],
  { sessionKey, ask = askGateway }: { readonly sessionKey?: string | undefined; readonly ask?: AskGateway | undefined },
): Promise<Finding> {
  const key = sessionKey ?? (await findLatestSession(ask));
  const answer = key === undefined ? undefined : await ask("tools.effective", { sessionKey: key }, "operator.read");
  const offered = answer?.ok === true ? readToolIds(answer.payload) : undefined;
  if (key === undefined || offered === undefined) {
    const text =
      "Not checked which tools the model is offered: the gateway does not answer, or there is no conversation.";
    return { id: "tools", level: "ok", text };
  }
  const missing = expected.filter((name) => !offered.has(name));
  if (missing.length === 0) {
    return {
      id: "tools",
      level: "ok",
      text: `All ${expected.length} tools of svc are offered in the conversation ${key}.`,
    };
  }
  const isAll = missing.length === expected.length;
  const count = isAll ? "None" : `${expected.length - missing.length}`;
  const names = isAll ? "" : ` Missing: ${missing.slice(0, 3).join(", ")}${missing.length > 3 ? ", …" : ""}.`;
  return {
    id: "tools",
    level: isAll ? "fail" : "warn",
    text: `${count} of ${expected.length} tools of svc are offered in the conversation ${key}.${names}`,
    fix: "Name svc and svc-actions in plugins.allow and tools.allow where these are set, in tools.alsoAllow otherwise; see docs/openclaw.md, Missing tools.",
  };
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
