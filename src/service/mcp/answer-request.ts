import { isRecord } from "../../shared/base/json.ts";
import type { McpResult } from "./mcp-features.ts";
import {
  invalidParams,
  isLegacyVersion,
  isModernVersion,
  LEGACY_VERSIONS,
  MCP_VERSIONS,
  type McpEra,
  META,
  RPC_CODES,
  RpcError,
  type RpcId,
  type RpcMessage,
} from "./protocol.ts";

/** An HTTP answer; without `body`, which is JSON, it has none. */
export interface McpAnswer {
  readonly status: number;
  readonly body?: string;
}

/** A result that never changes, as JSON. */
export class ResultText {
  readonly json: string;

  constructor(result: McpResult, stamp: ResultStamp) {
    this.json = JSON.stringify(stampResult(result, stamp));
  }
}

/** Revision family and client of a request whose {@link McpHeaders} and `_meta` were checked. */
export interface CheckedRequest {
  readonly era: McpEra;
  /** Empty in the legacy revisions: their capabilities come with the handshake, which is not kept. */
  readonly clientCapabilities: Readonly<Record<string, unknown>>;
}

interface RequestRunner {
  run(message: RpcMessage, request: CheckedRequest): Promise<McpResult | ResultText>;
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
    const { json } = result instanceof ResultText ? result : new ResultText(result, { era, ...runner });
    return { status: 200, body: `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${json}}` };
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
  const body = { jsonrpc: "2.0", id, error: { code, message, ...(data !== undefined && { data }) } };
  return { status, body: JSON.stringify(body) };
}

function check(message: RpcMessage, headers: McpHeaders, era: McpEra): CheckedRequest {
  if (era === "legacy") {
    if (message.method !== "initialize") checkLegacyRequest(headers);
    return { era, clientCapabilities: {} };
  }
  if (message.id === null) throw new RpcError(RPC_CODES.invalidRequest, "`id` must be an integer or a string.");
  return { era, clientCapabilities: checkModernRequest(message, headers) };
}

/** What a result of an era carries besides itself. */
export interface ResultStamp extends Pick<RequestRunner, "serverInfo"> {
  readonly era: McpEra;
}

/** Modern results say that they are complete and who gave them. */
function stampResult(result: McpResult, { era, serverInfo }: ResultStamp): McpResult {
  if (era === "legacy") return result;
  const meta = isRecord(result._meta) ? result._meta : {};
  return { resultType: "complete", ...result, _meta: { ...meta, [META.serverInfo]: serverInfo } };
}

function chooseStatus({ code }: RpcError, era: McpEra): number {
  if (code === RPC_CODES.invalidRequest) return 400;
  if (era === "legacy") return 200;
  if (code === RPC_CODES.methodNotFound) return 404;
  return code === RPC_CODES.internalError ? 500 : 400;
}

/** Headers of a request, as far as the protocol reads them. */
export interface McpHeaders {
  /** `MCP-Protocol-Version`. */
  readonly version: string | undefined;
  /** `Mcp-Method`. */
  readonly method: string | undefined;
  /** `Mcp-Name`. */
  readonly name: string | undefined;
}

/** Methods whose subject stands in `Mcp-Name` too, and the parameter that holds it. */
const NAMED_BY: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
};

/** Revision family of a request: modern when it says so, or uses a method that only the modern one has. */
function chooseEra(message: RpcMessage, headers: McpHeaders): McpEra {
  if (message.method === "server/discover") return "modern";
  if (readMeta(message)[META.protocolVersion] !== undefined) return "modern";
  return headers.version !== undefined && isModernVersion(headers.version) ? "modern" : "legacy";
}

/** Checks the revision of a legacy request. Without the header it is taken for the oldest one. */
function checkLegacyRequest(headers: McpHeaders): void {
  if (headers.version === undefined || isLegacyVersion(headers.version)) return;
  const message = `MCP-Protocol-Version "${headers.version}" is not supported here; use one of ${MCP_VERSIONS.join(", ")}.`;
  throw new RpcError(RPC_CODES.invalidRequest, message, { supported: LEGACY_VERSIONS, requested: headers.version });
}

/**
 * Checks the required headers and `_meta` of a modern request and returns the capabilities its client declared.
 *
 * @throws RpcError -32602 for `_meta`, -32020 for headers that differ from the body, -32022 for another revision.
 */
function checkModernRequest(message: RpcMessage, headers: McpHeaders): Readonly<Record<string, unknown>> {
  const meta = readMeta(message);
  const version = meta[META.protocolVersion];
  if (typeof version !== "string") throw invalidParams(`params._meta["${META.protocolVersion}"] is required.`);
  const capabilities = meta[META.clientCapabilities];
  if (!isRecord(capabilities)) {
    throw invalidParams(`params._meta["${META.clientCapabilities}"] is required and must be an object.`);
  }
  if (headers.version !== version) throw mismatch("MCP-Protocol-Version", headers.version, version);
  if (!isModernVersion(version)) {
    const text = `Protocol version "${version}" is not supported in this form.`;
    throw new RpcError(RPC_CODES.unsupportedVersion, text, { supported: MCP_VERSIONS, requested: version });
  }
  if (headers.method !== message.method) throw mismatch("Mcp-Method", headers.method, message.method);
  const named = NAMED_BY[message.method];
  const subject = named === undefined ? undefined : message.params[named];
  if (typeof subject === "string") {
    const name = decodeHeader(headers.name);
    if (name !== subject) throw mismatch("Mcp-Name", name, subject);
  }
  return capabilities;
}

function readMeta({ params }: RpcMessage): Readonly<Record<string, unknown>> {
  return isRecord(params._meta) ? params._meta : {};
}

function mismatch(header: string, sent: string | undefined, wanted: string): RpcError {
  const problem = sent === undefined ? "is missing" : `is "${sent}"`;
  return new RpcError(RPC_CODES.headerMismatch, `The header ${header} ${problem}, but the body says "${wanted}".`);
}

const ENCODED = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/;

/** Undoes the encoding of header values that are not plain ASCII. */
function decodeHeader(value: string | undefined): string | undefined {
  const encoded = value === undefined ? undefined : ENCODED.exec(value)?.[1];
  return encoded === undefined ? value : Buffer.from(encoded, "base64").toString("utf8");
}
