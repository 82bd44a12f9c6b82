import { SvcError } from "../errors.ts";
import type { McpToolName, RpcResponse } from "../wire/mcp.ts";
import { readToolContent, sendMcp } from "./mcp.ts";
import { nameRequest } from "./name-request.ts";
import type { ApiReply } from "./reply.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** One of the `svc.*` tools, in place of the endpoint that does the same. */
interface TwinCall {
  readonly tool: McpToolName;
  /** Undefined ones are left out. */
  readonly args: Readonly<Record<string, unknown>>;
  /** True for a tool that changes nothing. */
  readonly isRead: boolean;
}

/** JSON-RPC codes that say that no tool was run. */
const NOT_RUN: ReadonlySet<number> = new Set([-32600, -32601, -32602]);

/**
 * Calls a `svc.*` tool and gives its answer the form of the endpoint it stands for: the same body, and the status that
 * goes with it, since over MCP every answer is a 200 ("MCP").
 *
 * @throws SvcError `unsupported` when the service does not have the tool, `bad_response` with status 500 when it failed
 * without an answer
 */
export async function callTwin(
  transport: Transport,
  { tool, args, isRead }: TwinCall,
  options?: CallOptions,
): Promise<ApiReply> {
  const label = `POST /api/mcp, ${tool}`;
  const call = { method: "tools/call", params: { name: tool, arguments: args } };
  const { reply, response } = await sendMcp(transport, call, { label, isRead, options });
  const { result } = response;
  if (result === undefined) throw describeRpcError(label, response);
  const content = readToolContent(result);
  return {
    ...reply,
    status: content === undefined ? 200 : chooseStatus(content, result.isError === true),
    json: content,
  };
}

/** The status that the endpoint would have given ("HTTP statuses"). */
function chooseStatus({ status, error_code: code }: Readonly<Record<string, unknown>>, isError: boolean): number {
  if (typeof code !== "string") return isError ? 500 : 200;
  if (code.endsWith("_not_found")) return 404;
  if (code === "validation_error") return 400;
  if (code === "rate_limited") return 429;
  return status === "blocked" ? 409 : 500;
}

function describeRpcError(label: string, { error }: RpcResponse): SvcError {
  if (error !== undefined && NOT_RUN.has(error.code)) {
    const message = nameRequest("The MCP endpoint of this service does not take this call.", label);
    return new SvcError("unsupported", message, {
      hint: 'Pair this device for a key, which does not need the endpoint: "svc pair".',
      sent: true,
    });
  }
  const what = `The MCP endpoint failed without an answer${error === undefined ? "" : `: ${error.code}`}.`;
  return new SvcError("bad_response", nameRequest(what, label), { status: 500, sent: true });
}
