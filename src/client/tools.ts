import { TOOL_PAGE } from "../wire/limits.ts";
import {
  type Tool,
  type ToolList,
  type ToolSearch,
  toolDescriptionSchema,
  toolListSchema,
  toolSearchSchema,
} from "../wire/tool.ts";
import { readResource } from "./reply.ts";
import { type CallOptions, capLimit, encodeSegment, type Transport } from "./transport.ts";

/** Query of `GET /api/tools`. `limit` is 1 to 200, default 50; a larger one is sent as 200. */
export interface ListToolsQuery {
  readonly integration?: string | undefined;
  readonly limit?: number | undefined;
}

/** Query of `GET /api/tools/search`. */
export interface SearchToolsQuery {
  readonly query: string;
  readonly integration?: string | undefined;
  readonly limit?: number | undefined;
}

/** `GET /api/tools`. The last entry may be a truncation notice, whose `name` is null. */
export async function listTools(
  transport: Transport,
  { integration, limit }: ListToolsQuery,
  options?: CallOptions,
): Promise<ToolList> {
  const query = { integration, limit: capLimit(limit, TOOL_PAGE.max) };
  const reply = await transport.call({ method: "GET", path: "/api/tools", query, options });
  return readResource(reply, toolListSchema);
}

/** `GET /api/tools/search`. */
export async function searchTools(
  transport: Transport,
  { query, integration, limit }: SearchToolsQuery,
  options?: CallOptions,
): Promise<ToolSearch> {
  const path = "/api/tools/search";
  const reply = await transport.call({ method: "GET", path, query: { query, integration, limit }, options });
  return readResource(reply, toolSearchSchema);
}

/** `GET /api/tools/{name}`: the tool with its complete input schema. */
export async function describeTool(transport: Transport, name: string, options?: CallOptions): Promise<Tool> {
  const reply = await transport.call({ method: "GET", path: `/api/tools/${encodeSegment(name, "name")}`, options });
  return readResource(reply, toolDescriptionSchema).tool;
}
