import { z } from "zod";

/** The eight `svc.*` tools the document names; the two others are `svc.whoami` and `svc.get_integration` here. */
export const MCP_TOOL_NAMES = [
  "svc.search",
  "svc.list_actions",
  "svc.get_action",
  "svc.list_integrations",
  "svc.get_integration",
  "svc.get_connection",
  "svc.connect_app",
  "svc.execute",
  "svc.get_execution",
  "svc.whoami",
] as const;
export type McpToolName = (typeof MCP_TOOL_NAMES)[number];

/** Methods the document lists as supported. */
export const MCP_METHODS = ["initialize", "tools/list", "tools/call"] as const;

/** Path of the MCP endpoint. */
export const MCP_PATH = "/api/mcp";

/** OAuth scopes; `openid` is the one required on `/api/mcp`. */
export const OAUTH_SCOPES = ["openid", "email", "profile"] as const;

const rpcIdSchema = z.union([z.int(), z.string(), z.null()]);

/** "JSON-RPC request". */
export const rpcRequestSchema = z.looseObject({
  jsonrpc: z.literal("2.0"),
  id: rpcIdSchema.optional(),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).optional(),
});
export type RpcRequest = z.infer<typeof rpcRequestSchema>;

/** `error` of a JSON-RPC response ("MCP"). */
export const rpcErrorSchema = z.looseObject({ code: z.int(), message: z.string(), data: z.unknown().optional() });

/** JSON-RPC response: exactly one of `result` and `error`. */
export const rpcResponseSchema = z.looseObject({
  jsonrpc: z.literal("2.0"),
  id: rpcIdSchema.optional(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: rpcErrorSchema.optional(),
});
export type RpcResponse = z.infer<typeof rpcResponseSchema>;

/** Answer of `GET /api/mcp`. */
export const mcpListingSchema = z.looseObject({
  ok: z.boolean(),
  transport: z.string(),
  endpoint: z.string(),
  tools: z.array(z.looseObject({})),
  prompts: z.array(z.looseObject({})),
  resources: z.array(z.looseObject({})),
});
export type McpListing = z.infer<typeof mcpListingSchema>;

/** "MCP server card"; tools, prompts and resources are deliberately absent. */
export const serverCardSchema = z.looseObject({
  $schema: z.string().optional(),
  name: z.string(),
  version: z.string(),
  description: z.string(),
  title: z.string().optional(),
  websiteUrl: z.string().optional(),
  remotes: z.array(z.looseObject({})).optional(),
});
export type ServerCard = z.infer<typeof serverCardSchema>;

/** Content type of the MCP server card ("MCP"). */
export const SERVER_CARD_CONTENT_TYPE = "application/mcp-server-card+json";
