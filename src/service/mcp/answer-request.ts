import { checkLegacyRequest, checkModernRequest, chooseEra, type McpHeaders } from "./check-era.ts";
import type { McpResult } from "./mcp-features.ts";
import { type McpEra, META, RPC_CODES } from "./protocol.ts";
import type { RpcId, RpcMessage } from "./read-message.ts";
import { RpcError } from "./rpc-error.ts";

/** An HTTP answer; without `body` it has none. */
export interface McpAnswer {
  readonly status: number;
  readonly body?: Readonly<Record<string, unknown>>;
}

/** Who speaks, after {@link McpHeaders} and `_meta` were checked. */
export interface CheckedRequest {
  readonly era: McpEra;
  /** Empty in the legacy revisions: their capabilities come with the handshake, which is not kept. */
  readonly clientCapabilities: Readonly<Record<string, unknown>>;
}

/** Everything a request needs but its own content. */
export interface RequestRunner {
  run(message: RpcMessage, request: CheckedRequest): Promise<McpResult>;
  readonly serverInfo: Readonly<Record<string, unknown>>;
  onUnexpected(error: unknown): void;
}

/**
 * Answers one message. A notification gets 202 and no body. Errors of a legacy request travel at HTTP 200, as the API
 * document says ("MCP"); a modern request gets the status that its revision asks for.
 */
export async function answerRequest(
  message: RpcMessage,
  headers: McpHeaders,
  runner: RequestRunner,
): Promise<McpAnswer> {
  const { id } = message;
  if (id === undefined) return { status: 202 };
  const era = chooseEra(message, headers);
  try {
    const request = check(message, headers, era);
    const result = await runner.run(message, request);
    return { status: 200, body: { jsonrpc: "2.0", id, result: stampResult(result, era, runner) } };
  } catch (error) {
    if (!(error instanceof RpcError)) runner.onUnexpected(error);
    const known =
      error instanceof RpcError
        ? error
        : new RpcError(RPC_CODES.internalError, "Something unexpected went wrong in the service.");
    return renderRpcError(known, { id, status: chooseStatus(known, era) });
  }
}

/** The answer that carries an error. */
export function renderRpcError(error: RpcError, { id, status }: { id: RpcId; status: number }): McpAnswer {
  const { code, message, data } = error;
  return { status, body: { jsonrpc: "2.0", id, error: { code, message, ...(data !== undefined && { data }) } } };
}

function check(message: RpcMessage, headers: McpHeaders, era: McpEra): CheckedRequest {
  if (era === "legacy") {
    if (message.method !== "initialize") checkLegacyRequest(headers);
    return { era, clientCapabilities: {} };
  }
  if (message.id === null) throw new RpcError(RPC_CODES.invalidRequest, "`id` must be an integer or a string.");
  return { era, clientCapabilities: checkModernRequest(message, headers) };
}

/** Modern results say that they are complete and who gave them. */
function stampResult(result: McpResult, era: McpEra, { serverInfo }: RequestRunner): McpResult {
  if (era === "legacy") return result;
  return { resultType: "complete", ...result, _meta: { [META.serverInfo]: serverInfo } };
}

function chooseStatus({ code }: RpcError, era: McpEra): number {
  if (code === RPC_CODES.invalidRequest) return 400;
  if (era === "legacy") return 200;
  if (code === RPC_CODES.methodNotFound) return 404;
  return code === RPC_CODES.internalError ? 500 : 400;
}
