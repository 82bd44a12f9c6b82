import { isSvcError } from "../../../../shared/errors.ts";
import { buildTools, toModelName } from "../../../calls/build.ts";
import type { ToolCatalog } from "../../../calls/catalog/catalog.ts";
import { type CatalogEntry, mustAskFirst } from "../../../calls/catalog/catalog-entry.ts";
import { cleanText } from "../../../calls/outcome.ts";
import { FLOW_TOOL_NAMES, STATIC_TOOL_NAMES } from "../../../calls/static-tools.ts";
import type { ActionRecord } from "./actions-file.ts";

/** A tool the sync did not turn into an action tool; `svc_call_tool` may still reach it. */
export interface LeftOutTool {
  /** Full name; undefined for tools a cut list only counts. */
  readonly toolName: string | undefined;
  readonly integration?: string | undefined;
  /** How many tools: 1 when `toolName` is known. */
  readonly count: number;
  /** One sentence for the human. */
  readonly reason: string;
}

/** Asks the service for its tools, of these apps or of all. A cut list says how many tools it leaves out. */
export async function listOffered(
  catalog: ToolCatalog,
  integrations: readonly string[] | undefined,
  signal: AbortSignal | undefined,
) {
  const { omitted } = await catalog.sync({
    ...(integrations === undefined ? {} : { integrations }),
    ...(signal === undefined ? {} : { signal }),
  });
  const listed = catalog.list().filter(({ integration }) => integrations?.includes(integration) ?? true);
  return { listed, omitted };
}

const PARALLEL = 8;

interface Collection {
  readonly records: ActionRecord[];
  readonly leftOut: LeftOutTool[];
  /** Why a tool could not be described now, by full name. */
  readonly failures: ReadonlyMap<string, string>;
}

/**
 * Describes every named tool again, eight at a time, and makes action tools of them: legal, free names, and never one
 * whose arguments are not known. One failure does not stop the others.
 *
 * @throws SvcError `unauthorized` for a key the service does not accept, and an AbortError when the signal fires
 */
export async function collectActions(
  catalog: ToolCatalog,
  toolNames: readonly string[],
  signal: AbortSignal | undefined,
): Promise<Collection> {
  const entries = new Map<string, CatalogEntry>();
  const failures = new Map<string, string>();
  const queue = [...toolNames];
  const work = async () => {
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      signal?.throwIfAborted();
      try {
        const { entry } = await catalog.refresh(name);
        if (entry?.schemaHash === undefined) failures.set(name, "The service lists it and does not describe it.");
        else entries.set(name, entry);
      } catch (error) {
        if (!isSvcError(error) || error.code === "unauthorized" || error.code === "aborted") throw error;
        failures.set(name, `It could not be described: ${cleanText(error.message, 160)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return { ...createRecords([...entries.values()]), failures };
}

function createRecords(entries: readonly CatalogEntry[]): Omit<Collection, "failures"> {
  const known = entries.filter((entry) => listTelling(entry).length > 0);
  const { names, collisions } = nameActions(known.map(({ name }) => name));
  const shared = new Map(collisions.map(({ toolName, name }) => [toolName, name]));
  const leftOut = entries.flatMap(({ name: toolName, integration }): LeftOutTool[] => {
    if (names.has(toolName)) return [];
    const name = shared.get(toolName);
    const unknown = "The service gives no schema of its arguments.";
    const reason = name === undefined ? unknown : `It and another tool would both be called ${name}.`;
    return [{ toolName, integration, count: 1, reason }];
  });
  const named = known.filter(({ name }) => names.has(name));
  const definitions = buildTools(named, { profile: "full", reserved: [] });
  const records = named.flatMap((entry, index): ActionRecord[] => {
    const { name: toolName, integration, effect, schemaHash = "" } = entry;
    const [name, definition] = [names.get(toolName), definitions[index]];
    if (name === undefined || definition === undefined) return [];
    const parameters = takesNothing(entry) ? { type: "object", properties: {} } : definition.schema;
    const description = definition.description + tellAccounts(entry);
    const asksFirst = mustAskFirst(entry);
    return [{ name, toolName, integration, effect, asksFirst, description, parameters, schemaHash }];
  });
  return { records, leftOut };
}

const MOST_ACCOUNTS = 8;

/** An action tool always uses the default account, and a model that is not told takes its account for the only one. */
function tellAccounts({ connections }: CatalogEntry): string {
  if (connections.length < 2) return "";
  const named = connections.slice(0, MOST_ACCOUNTS).map(({ id, label, isDefault }) => {
    return isDefault === true ? `${cleanText(label, 60)} (default)` : `${cleanText(label, 60)} (${cleanText(id, 60)})`;
  });
  const more = connections.length > MOST_ACCOUNTS ? ", …" : "";
  const hasDefault = connections.some(({ isDefault }) => isDefault === true);
  const which = hasDefault ? "The default is used" : "The user is asked which";
  return ` Accounts: ${named.join(", ")}${more}. ${which}; to name one, call svc_call_tool with its id as connectionId.`;
}

const SAYS_NOTHING: ReadonlySet<string> = new Set(["type", "title", "description", "$schema", "additionalProperties"]);

/** A schema with `properties` is complete, even if that is empty; for `{}` and null the list is empty. */
function listTelling({ inputSchema }: CatalogEntry): readonly unknown[] {
  const telling = Object.entries(inputSchema ?? {}).filter(([keyword]) => !SAYS_NOTHING.has(keyword));
  return telling.map(([, value]) => value);
}

function takesNothing(entry: CatalogEntry): boolean {
  return listTelling(entry).every(
    (value) => typeof value === "object" && value !== null && Object.keys(value).length === 0,
  );
}

const LIMIT = 64;
const SUFFIX = "_svc";
const OWN_NAMES: ReadonlySet<string> = new Set([...STATIC_TOOL_NAMES, ...FLOW_TOOL_NAMES]);

/**
 * Finds the names under which the host can offer these tools: the service's own where it is legal and free, with
 * `_svc` behind it where the host or this plugin has a tool or a plugin of that name. Two tools that would share a
 * name, letter case apart as the host compares, get none: calling the wrong one is worse than offering neither.
 *
 * @returns the name of each tool that has one, and the name that it would share with others, by full name on the service
 */
export function nameActions(toolNames: readonly string[]) {
  const byKey = Map.groupBy(new Set(toolNames), (toolName) => toHostName(toolName).toLowerCase());
  const names = new Map<string, string>();
  const collisions: { toolName: string; name: string }[] = [];
  for (const sharing of byKey.values()) {
    for (const toolName of sharing) {
      const name = toHostName(toolName);
      if (sharing.length === 1) names.set(toolName, name);
      else collisions.push({ toolName, name });
    }
  }
  return { names, collisions };
}

function toHostName(toolName: string): string {
  const name = toModelName(toolName);
  return isTaken(name.toLowerCase()) ? toModelName(name.slice(0, LIMIT - SUFFIX.length) + SUFFIX) : name;
}

/** A name without an underscore may be the id of a plugin, which the host would then refuse to load. */
function isTaken(name: string): boolean {
  return (
    !name.includes("_") ||
    HOST_TOOL_NAMES.has(name) ||
    OWN_NAMES.has(name) ||
    HOST_TOOL_PREFIXES.some((prefix) => name.startsWith(prefix))
  );
}

/**
 * Names a generated tool must not have: the host drops a plugin's tool whose name it knows already. OpenClaw 2026.9.6:
 * its core tools, the controls of its tool search and code mode, the aliases it folds into other names, and the tools
 * of the plugins it ships. Lower case: the host compares without regard to letter case.
 */
export const HOST_TOOL_NAMES: ReadonlySet<string> = new Set(
  [
    "agents_list agents_wait apply-patch apply_patch ask_user automations bash browser canvas code_execution computer",
    "conversations_list conversations_send conversations_turn create_goal cron dashboard dismiss_task edit exec gateway",
    "get_goal github_identity_status github_publish heartbeat_respond image image_generate ls memory_get memory_search",
    "message mobile_ui music_generate nodes openclaw pdf plugins portal process progress_card read screen secrets",
    "session_status sessions sessions_history sessions_list sessions_search sessions_send sessions_spawn sessions_yield",
    "show_widget skill_workshop structured_output subagents suggest_task terminal theme transcripts tts update_goal",
    "video_generate view_image wait web_fetch web_search write x_search",
    "tool_call tool_describe tool_search tool_search_code",
    "crabbox dir_fetch dir_list file_fetch file_write intent llm-task node_inference onepassword talk_voice",
    "wiki_apply wiki_get wiki_lint wiki_search wiki_status",
  ].flatMap((line) => line.split(" ")),
);

/** The plugin the host ships with tools of this prefix grows with each release. */
export const HOST_TOOL_PREFIXES: readonly string[] = ["workboard_"];
