import { isSvcError, SvcError } from "../errors.ts";
import {
  type ActionItem,
  actionDetailSchema,
  actionListSchema,
  catalogSearchSchema,
  type IntegrationItem,
  integrationPageSchema,
} from "../wire/catalog.ts";
import type { ToolExecuteRequest } from "../wire/execution.ts";
import { TOOL_PAGE } from "../wire/limits.ts";
import type { McpToolName } from "../wire/mcp.ts";
import type { Tool } from "../wire/tool.ts";
import { needsKey } from "./choose-access.ts";
import { readExecution, toExecuteReply } from "./executions.ts";
import { findOwners, nameTool, toDescribedTool, toListedTool, toToolList } from "./mcp-tools.ts";
import { callTwin } from "./mcp-twins.ts";
import { nameRequest } from "./name-request.ts";
import { readResource } from "./reply.ts";
import { isRequestBody, type RequestBody } from "./request.ts";
import type { ToolAccess } from "./tool-access.ts";
import type { ListToolsQuery, SearchToolsQuery } from "./tools.ts";
import { type CallOptions, capLimit, type Transport } from "./transport.ts";

const INTEGRATION_PAGE = 100;
const MAX_PAGES = 50;
const PARALLEL = 4;
const SEARCH_DEFAULT = 10;
/** How messages name a call of a tool. */
const EXECUTE = "POST /api/mcp, svc.execute";

/**
 * Finds and runs tools through the `svc.*` tools of the MCP endpoint, which takes an OAuth sign-in. They act on the
 * default connection and take no files: a call that needs another account or sends bytes is refused with
 * `credentials_missing`, and nothing is sent.
 */
export function createMcpAccess(transport: Transport): ToolAccess {
  return new McpAccess(transport);
}

class McpAccess implements ToolAccess {
  readonly #transport: Transport;
  /** Integration of each tool that was listed, found or described. */
  readonly #owners = new Map<string, string>();

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async listIntegrations(query: Parameters<ToolAccess["listIntegrations"]>[0], options?: CallOptions) {
    return readResource(await this.#read("svc.list_integrations", { ...query }, options), integrationPageSchema);
  }

  async listActions(query: Parameters<ToolAccess["listActions"]>[0], options?: CallOptions) {
    return readResource(await this.#read("svc.list_actions", { ...query }, options), actionListSchema);
  }

  async getAction(
    { integrationId, actionId }: { readonly integrationId: string; readonly actionId: string },
    options?: CallOptions,
  ) {
    const args = { integration_id: integrationId, action_id: actionId };
    return readResource(await this.#read("svc.get_action", args, options), actionDetailSchema);
  }

  async searchCatalog(query: Parameters<ToolAccess["searchCatalog"]>[0], options?: CallOptions) {
    return readResource(await this.#read("svc.search", { ...query }, options), catalogSearchSchema);
  }

  async getExecution(id: string, options?: CallOptions) {
    return readExecution(await this.#read("svc.get_execution", { execution_id: id }, options));
  }

  async execute(body: Parameters<ToolAccess["execute"]>[0], options?: CallOptions) {
    const { integration_id, action_id, input, confirm, idempotency_key } = body;
    const args = { integration_id, action_id, input, confirm, idempotency_key };
    return toExecuteReply(await callTwin(this.#transport, { tool: "svc.execute", args, isRead: false }, options));
  }

  async listTools({ integration, limit }: ListToolsQuery, options?: CallOptions) {
    const max = capLimit(limit, TOOL_PAGE.max) ?? TOOL_PAGE.default;
    if (integration !== undefined) {
      const tools = await this.#listOf(integration, undefined, options);
      return toToolList(tools, { limit: max, total: tools.length, integration });
    }
    const items = (await this.#listAll(options)).sort(bySlug);
    const tools: Tool[] = [];
    let listed = 0;
    for (; listed < items.length && tools.length < max; listed += PARALLEL) {
      const batch = items.slice(listed, listed + PARALLEL);
      const lists = await Promise.all(batch.map((item) => this.#listOf(item.integration_id, undefined, options)));
      tools.push(...lists.flat());
    }
    const rest = items.slice(listed).reduce((sum, { capabilities = [] }) => sum + Math.max(capabilities.length, 1), 0);
    return toToolList(tools, { limit: max, total: tools.length + rest, integration: null });
  }

  async searchTools({ query, integration, limit }: SearchToolsQuery, options?: CallOptions) {
    const max = capLimit(limit, TOOL_PAGE.max) ?? SEARCH_DEFAULT;
    const found =
      integration === undefined
        ? await this.#search(query, max, options)
        : await this.#listOf(integration, query, options);
    const tools = found.slice(0, max);
    return { tools, count: tools.length, query, integration: integration ?? null };
  }

  async describeTool(name: string, options?: CallOptions) {
    const known = this.#owners.get(name);
    const owners = known === undefined ? findOwners(await this.#listAll(options), name) : [known];
    for (const integration of owners) {
      const action = { integrationId: integration, actionId: name };
      const detail = await this.getAction(action, options).catch(asUndefinedWhenMissing);
      const tool = detail && toDescribedTool(integration, detail);
      if (tool?.name !== name) continue;
      this.#owners.set(name, integration);
      return tool;
    }
    const message = nameRequest(`There is no tool named "${name}".`, "POST /api/mcp, svc.get_action");
    throw new SvcError("service_failure", message, {
      status: 404,
      serviceCode: "tool_not_found",
      sent: true,
    });
  }

  async executeTool(
    { name, body }: { readonly name: string; readonly body: ToolExecuteRequest | RequestBody },
    options?: CallOptions,
  ) {
    if (isRequestBody(body)) throw needsKey("Sending the bytes of a file", EXECUTE);
    const { arguments: args, connectionId, confirmed, files, ...rest } = body;
    if (files != null) throw needsKey("Sending the bytes of a file", EXECUTE);
    if (connectionId != null) throw needsKey("Choosing an account other than the default one", EXECUTE);
    // Only looked up, so a failure here left nothing to wonder about.
    const owner = this.#owners.get(name) ?? (await this.describeTool(name, options).catch(asUnsent)).integration;
    const input = args ?? rest;
    const confirm = confirmed === true ? { confirm: true } : {};
    return this.execute({ integration_id: owner ?? "", action_id: name, input, ...confirm }, options);
  }

  #read(tool: McpToolName, args: Readonly<Record<string, unknown>>, options?: CallOptions) {
    return callTwin(this.#transport, { tool, args, isRead: true }, options);
  }

  async #listAll(options?: CallOptions): Promise<IntegrationItem[]> {
    const items: IntegrationItem[] = [];
    for (let page = 1; page <= MAX_PAGES; page += 1) {
      const answer = await this.listIntegrations({ page, page_size: INTEGRATION_PAGE }, options);
      items.push(...answer.items);
      if (answer.items.length === 0 || (answer.total ?? 0) <= items.length) break;
    }
    return items;
  }

  /** Tools of one integration, the ones that fit `intent` first; none of one that the service does not have. */
  async #listOf(integration: string, intent: string | undefined, options?: CallOptions): Promise<Tool[]> {
    const query = { integration_id: integration, intent };
    const actions = await this.listActions(query, options).catch(asUndefinedWhenMissing);
    return (actions?.items ?? []).map((action) => this.#remember(integration, action));
  }

  /** A search names actions and not what they may change, which the lists of their integrations do. */
  async #search(query: string, limit: number, options?: CallOptions): Promise<Tool[]> {
    const answer = await this.#read("svc.search", { query, limit }, options);
    const { items } = readResource(answer, catalogSearchSchema);
    const hits = items.flatMap(({ kind, integration_id, action_id, title, summary }) =>
      kind === "action" && action_id != null ? [{ integration_id, action_id, title, description: summary }] : [],
    );
    const slugs = [...new Set(hits.map(({ integration_id }) => integration_id))];
    const lists = await Promise.all(slugs.map((slug) => this.#listOf(slug, undefined, options)));
    const byName = new Map(lists.flat().map((tool) => [tool.name, tool]));
    return hits.map((hit) => {
      const listed = byName.get(nameTool(hit.integration_id, hit.action_id));
      return listed ?? this.#remember(hit.integration_id, hit);
    });
  }

  #remember(integration: string, action: ActionItem): Tool {
    this.#owners.set(nameTool(integration, action.action_id), integration);
    return toListedTool(integration, action);
  }
}

function bySlug(a: IntegrationItem, b: IntegrationItem): number {
  return a.integration_id < b.integration_id ? -1 : 1;
}

function asUndefinedWhenMissing(error: unknown): undefined {
  if (isSvcError(error) && error.code === "service_failure" && error.status === 404) return undefined;
  throw error;
}

function asUnsent(error: unknown): never {
  if (!isSvcError(error)) throw error;
  throw new SvcError(error.code, error.message, { ...error, cause: error.cause, sent: false });
}
