import { existsSync } from "node:fs";
import { join } from "node:path";
import { isRecord } from "../../../base/json.ts";
import { type ActionsFile, readActions } from "../actions/actions-file.ts";
import { loadsCompanion } from "../actions/apply-sync.ts";
import type { HostConfig } from "../host/host-api.ts";
import { askGateway } from "../host/load-sdk.ts";
import type { Places } from "../host/places.ts";
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
  if (offered === undefined) {
    const text =
      "Not checked which tools the model is offered: the gateway does not answer, or there is no conversation.";
    return ok("tools", text);
  }
  const missing = expected.filter((name) => !offered.has(name));
  const where = `tools of svc are offered in the conversation ${key}.`;
  if (missing.length === 0) return ok("tools", `All ${expected.length} ${where}`);
  const fix =
    "Name svc and svc-actions in plugins.allow and tools.allow where these are set, in tools.alsoAllow otherwise; see docs/openclaw.md, Missing tools.";
  if (missing.length === expected.length) return fail("tools", `None of ${expected.length} ${where}`, fix);
  const names = `${missing.slice(0, 3).join(", ")}${missing.length > 3 ? ", …" : ""}`;
  const count = expected.length - missing.length;
  return warn("tools", `${count} of ${expected.length} ${where} Missing: ${names}.`, fix);
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
