import {
  isLegacyVersion,
  isModernVersion,
  LEGACY_VERSIONS,
  MCP_VERSIONS,
  type McpEra,
  META,
  RPC_CODES,
} from "./protocol.ts";
import { isRecord, type RpcMessage } from "./read-message.ts";
import { invalidParams, RpcError } from "./rpc-error.ts";

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

/** Which revision family a request speaks: the modern one when it says so, or asks for what only that one has. */
export function chooseEra(message: RpcMessage, headers: McpHeaders): McpEra {
  if (message.method === "server/discover") return "modern";
  if (readMeta(message)[META.protocolVersion] !== undefined) return "modern";
  return headers.version !== undefined && isModernVersion(headers.version) ? "modern" : "legacy";
}

/** Checks what a legacy request says about its revision. Without the header it is taken for the oldest one. */
export function checkLegacyRequest(headers: McpHeaders): void {
  if (headers.version === undefined || isLegacyVersion(headers.version)) return;
  const message = `MCP-Protocol-Version "${headers.version}" is not supported here; use one of ${MCP_VERSIONS.join(", ")}.`;
  throw new RpcError(RPC_CODES.invalidRequest, message, { supported: LEGACY_VERSIONS, requested: headers.version });
}

/**
 * Checks what a modern request must say of itself and returns the capabilities its client declared.
 *
 * @throws RpcError -32602 for `_meta`, -32020 for headers that differ from the body, -32022 for another revision.
 */
export function checkModernRequest(message: RpcMessage, headers: McpHeaders): Readonly<Record<string, unknown>> {
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
