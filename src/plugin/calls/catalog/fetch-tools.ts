import { isSvcError } from "../../../shared/errors.ts";
import { TOOL_PAGE } from "../../../shared/wire/constants.ts";
import type { Tool, ToolList } from "../../../shared/wire/tool.ts";
import { listAllIntegrations } from "../../client/all-integrations.ts";
import type { SvcClient } from "../../client/client.ts";
import type { CallOptions } from "../../client/transport.ts";

import { addActionDetail, type CatalogEntry, readCatalogEntry } from "./catalog-entry.ts";
import type { KnownTools } from "./known-tools.ts";

const PARALLEL = 4;
/** Bounds against a service that lists apps and tools without end; the excess is counted as omitted. */
const MOST_INTEGRATIONS = 1_000;
const MOST_TOOLS = 50_000;

/** Extent and progress of a fetch of the tool lists. */
export interface FetchToolsOptions {
  /** Slugs of the apps whose tools are listed. Default: all. */
  readonly integrations?: readonly string[] | undefined;
  /** Called after each list with its number of tools; `integration` is null for the list of all apps. */
  readonly onProgress?: ((progress: { integration: string | null; tools: number }) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Tools that the service has and a list did not show. */
export interface OmittedTools {
  readonly integration: string | null;
  readonly count: number;
}

/** All tools of the lists, including truncation notices. */
interface FetchedTools {
  readonly tools: readonly Tool[];
  readonly omitted: readonly OmittedTools[];
}

/**
 * Lists the user's tools: one request when everything fits, otherwise one per integration, four at a time. The list
 * has no offset, so an integration with more than 200 tools stays incomplete; how many are missing is reported and the
 * rest is reachable by search.
 */
export async function fetchTools(client: SvcClient, options: FetchToolsOptions): Promise<FetchedTools> {
  const call = { signal: options.signal };
  if (options.integrations !== undefined) return fetchByIntegration(client, options.integrations, options);
  const all = await client.listTools({ limit: TOOL_PAGE.max }, call);
  options.onProgress?.({ integration: null, tools: countTools(all) });
  if (countOmitted(all) === 0) return { tools: all.tools, omitted: [] };
  const slugs = new Set(all.tools.flatMap((tool) => (tool.name && tool.integration ? [tool.integration] : [])));
  for (const slug of await fetchIntegrations(client, call)) slugs.add(slug);
  const asked = [...slugs].sort().slice(0, MOST_INTEGRATIONS);
  return addRest(await fetchByIntegration(client, asked, options), all.total ?? 0);
}

/** Counts tools of integrations that no list names, so that a short list never passes for the complete one. */
function addRest(fetched: FetchedTools, total: number): FetchedTools {
  const named = fetched.omitted.reduce((sum, { count }) => sum + count, 0);
  const rest = total - named - fetched.tools.filter((tool) => typeof tool.name === "string" && tool.name !== "").length;
  return rest > 0 ? { ...fetched, omitted: [...fetched.omitted, { integration: null, count: rest }] } : fetched;
}

async function fetchByIntegration(
  client: SvcClient,
  slugs: readonly string[],
  options: FetchToolsOptions,
): Promise<FetchedTools> {
  const lists = new Map<string, ToolList>();
  const queue = [...slugs];
  let count = 0;
  const work = async () => {
    for (let slug = queue.shift(); slug !== undefined; slug = queue.shift()) {
      const list = await client.listTools({ integration: slug, limit: TOOL_PAGE.max }, { signal: options.signal });
      options.onProgress?.({ integration: slug, tools: countTools(list) });
      lists.set(slug, list);
      count += list.tools.length;
      if (count >= MOST_TOOLS) queue.length = 0;
    }
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL, slugs.length) }, work));
  const inOrder = slugs.flatMap((slug) => lists.get(slug) ?? []);
  return {
    tools: inOrder.flatMap((list) => list.tools),
    omitted: slugs.flatMap((integration) => {
      const list = lists.get(integration);
      const count = list === undefined ? 0 : countOmitted(list);
      return count === 0 ? [] : [{ integration, count }];
    }),
  };
}

async function fetchIntegrations(client: SvcClient, call: CallOptions): Promise<string[]> {
  const items = await listAllIntegrations(client, {}, call).catch(asNone);
  return items.filter((item) => item.connected !== false).map((item) => item.integration_id);
}

function asNone(error: unknown): [] {
  if (isSvcError(error) && error.status === 404) return [];
  throw error;
}

function countTools(list: ToolList): number {
  return list.tools.filter((tool) => typeof tool.name === "string" && tool.name !== "").length;
}

function countOmitted(list: ToolList): number {
  const shown = countTools(list);
  const isComplete = list.truncated !== true && shown === list.tools.length;
  if (isComplete && (list.total === undefined || list.integration != null)) return 0;
  return Math.max(isComplete ? 0 : 1, (list.total ?? shown) - shown);
}

/**
 * The tool's current description, completed with known facts (`listed`). Undefined when the service has no description
 * of that name. Throws SvcError for every other failure.
 */
export async function fetchDescription(
  client: SvcClient,
  { name, listed }: { readonly name: string; readonly listed: CatalogEntry | undefined },
  call: { readonly signal: AbortSignal },
): Promise<CatalogEntry | undefined> {
  let tool: Tool;
  try {
    tool = await client.describeTool(name, call);
  } catch (error) {
    if (isSvcError(error) && error.code === "service_failure" && error.status === 404) return undefined;
    throw error;
  }
  const described = readCatalogEntry(tool, "describe");
  if (described === undefined || described.name !== name) return undefined;
  return complete(client, fillGaps(described, listed), call);
}

/** Asks the action detail for the effect when the description does not say it. */
async function complete(
  client: SvcClient,
  entry: CatalogEntry,
  call: { readonly signal: AbortSignal },
): Promise<CatalogEntry> {
  if (entry.effect !== "unknown" || entry.needsConfirmation !== undefined || entry.integration === "") return entry;
  try {
    return addActionDetail(entry, await client.getAction(entry.integration, entry.name, call));
  } catch (error) {
    if (isSvcError(error) && error.code !== "aborted") return entry;
    throw error;
  }
}

/** A fresh description, completed with what the list said about the same tool. */
function fillGaps(described: CatalogEntry, listed: CatalogEntry | undefined): CatalogEntry {
  if (listed === undefined) return described;
  return {
    ...described,
    integration: described.integration === "" ? listed.integration : described.integration,
    effect: described.effect === "unknown" ? listed.effect : described.effect,
    needsConfirmation: described.needsConfirmation ?? listed.needsConfirmation,
  };
}

/**
 * Merges a new list into the `known` entries, by name. Descriptions are kept; entries of the apps in `scope` that a
 * complete list lacks are removed.
 */
export function mergeList(
  known: KnownTools,
  listed: readonly CatalogEntry[],
  scope: {
    /** Apps in the list; undefined for all. */
    readonly integrations: readonly string[] | undefined;
    readonly isComplete: boolean;
  },
): void {
  const names = new Set(listed.map((entry) => entry.name));
  for (const { name, integration } of known.heads) {
    const isInScope = scope.integrations === undefined || scope.integrations.includes(integration);
    if (scope.isComplete && isInScope && !names.has(name)) known.delete(name);
  }
  for (const entry of listed) known.set(keepDescription(entry, known.get(entry.name)));
}

function keepDescription(listed: CatalogEntry, known: CatalogEntry | undefined): CatalogEntry {
  if (known?.schemaHash === undefined) return listed;
  const { inputSchema, schemaHash, shown, connections, askBefore, policyReason, keys } = known;
  const merged = fillGaps(listed, known);
  return { ...merged, inputSchema, schemaHash, shown, connections, askBefore, policyReason, keys };
}
