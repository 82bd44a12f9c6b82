import type { SvcClient } from "../client/client.ts";
import { isSvcError } from "../errors.ts";
import type { IntegrationPage } from "../wire/catalog.ts";
import { TOOL_PAGE } from "../wire/limits.ts";
import type { Tool, ToolList } from "../wire/tool.ts";

const INTEGRATION_PAGE = 100;
const MAX_PAGES = 50;
const PARALLEL = 4;
/** Bounds for a service that names apps and tools without end; what is beyond is counted as omitted. */
const MOST_INTEGRATIONS = 1_000;
const MOST_TOOLS = 50_000;

/** What {@link fetchTools} is told. */
export interface FetchToolsOptions {
  /** Only these integrations; default: all. */
  readonly integrations?: readonly string[] | undefined;
  readonly onProgress?: ((progress: { integration: string | null; tools: number }) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Tools a list could not show although the service has them. */
export interface OmittedTools {
  readonly integration: string | null;
  readonly count: number;
}

/** Every tool the lists give, notices still among them. */
export interface FetchedTools {
  readonly tools: readonly Tool[];
  readonly omitted: readonly OmittedTools[];
}

/**
 * Lists the user's tools: one request when everything fits, otherwise one per integration, four at a time. The list
 * has no offset, so an integration with more than 200 tools stays incomplete; how many are missing is reported and the
 * rest is reachable by search.
 */
export async function fetchTools(client: SvcClient, options: FetchToolsOptions): Promise<FetchedTools> {
  const call = options.signal === undefined ? {} : { signal: options.signal };
  if (options.integrations !== undefined) return fetchByIntegration(client, options.integrations, options);
  const all = await client.listTools({ limit: TOOL_PAGE.max }, call);
  options.onProgress?.({ integration: null, tools: countTools(all) });
  if (countOmitted(all) === 0) return { tools: all.tools, omitted: [] };
  const slugs = new Set(all.tools.flatMap((tool) => (tool.name && tool.integration ? [tool.integration] : [])));
  for (const slug of await fetchIntegrations(client, call)) slugs.add(slug);
  const asked = [...slugs].sort().slice(0, MOST_INTEGRATIONS);
  return addRest(await fetchByIntegration(client, asked, options), all.total ?? 0);
}

/** Tools of integrations that no list names are still counted, so that a short list never passes for all. */
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
      const call = options.signal === undefined ? {} : { signal: options.signal };
      const list = await client.listTools({ integration: slug, limit: TOOL_PAGE.max }, call);
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

async function fetchIntegrations(client: SvcClient, call: { signal?: AbortSignal }): Promise<string[]> {
  const slugs: string[] = [];
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const answer = await client.listIntegrations({ page, page_size: INTEGRATION_PAGE }, call).catch(asNoCatalog);
    slugs.push(...answer.items.filter((item) => item.connected !== false).map((item) => item.integration_id));
    const isLast = answer.items.length === 0 || (answer.total ?? 0) <= page * INTEGRATION_PAGE;
    if (isLast) break;
  }
  return slugs;
}

/** A service without the catalogue endpoints still has tool lists. */
function asNoCatalog(error: unknown): IntegrationPage {
  if (isSvcError(error) && error.status === 404) return { items: [] };
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
