import type { ActionDetail, ActionList, CatalogSearch, IntegrationPage } from "../wire/catalog.ts";
import type { CanonicalExecuteRequest, ExecutionSummary, ToolExecuteRequest } from "../wire/execution.ts";
import type { Tool, ToolList, ToolSearch } from "../wire/tool.ts";
import * as catalog from "./catalog.ts";
import * as executions from "./executions.ts";
import type { RequestBody } from "./request.ts";
import * as tools from "./tools.ts";
import type { CallOptions, Transport } from "./transport.ts";

/**
 * The part of the API that finds and runs tools. There are two ways to it: the endpoints of the document with an API
 * key, and the tools of its MCP endpoint with an OAuth sign-in.
 */
export interface ToolAccess {
  listTools(query: tools.ListToolsQuery, options?: CallOptions): Promise<ToolList>;
  searchTools(query: tools.SearchToolsQuery, options?: CallOptions): Promise<ToolSearch>;
  describeTool(name: string, options?: CallOptions): Promise<Tool>;
  executeTool(
    call: { readonly name: string; readonly body: ToolExecuteRequest | RequestBody },
    options?: CallOptions,
  ): Promise<executions.ExecuteReply>;
  execute(body: CanonicalExecuteRequest, options?: CallOptions): Promise<executions.ExecuteReply>;
  getExecution(id: string, options?: CallOptions): Promise<ExecutionSummary>;
  listIntegrations(query: catalog.ListIntegrationsQuery, options?: CallOptions): Promise<IntegrationPage>;
  listActions(query: catalog.ListActionsQuery, options?: CallOptions): Promise<ActionList>;
  getAction(
    action: { readonly integrationId: string; readonly actionId: string },
    options?: CallOptions,
  ): Promise<ActionDetail>;
  searchCatalog(query: catalog.SearchCatalogQuery, options?: CallOptions): Promise<CatalogSearch>;
}

/** The endpoints of the document. */
export function createKeyAccess(transport: Transport): ToolAccess {
  return {
    listTools: (query, options) => tools.listTools(transport, query, options),
    searchTools: (query, options) => tools.searchTools(transport, query, options),
    describeTool: (name, options) => tools.describeTool(transport, name, options),
    executeTool: (call, options) => executions.executeTool(transport, call, options),
    execute: (body, options) => executions.execute(transport, body, options),
    getExecution: (id, options) => executions.getExecution(transport, id, options),
    listIntegrations: (query, options) => catalog.listIntegrations(transport, query, options),
    listActions: (query, options) => catalog.listActions(transport, query, options),
    getAction: (action, options) => catalog.getAction(transport, action, options),
    searchCatalog: (query, options) => catalog.searchCatalog(transport, query, options),
  };
}
