import { parseExactly } from "../../shared/base/exact-number.ts";
import { isRecord } from "../../shared/base/json.ts";
import { isTooDeep, MAX_JSON_DEPTH } from "../files/body-limits.ts";

/**
 * Revisions of the Model Context Protocol that the endpoint speaks, newest first. Legacy ones begin with `initialize`;
 * the modern one is stateless and names itself in every request.
 */
export const LEGACY_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26"] as const;
/** The stateless revision. */
const MODERN_VERSIONS = ["2026-07-28"] as const;
/** Every revision, newest first. */
export const MCP_VERSIONS = [...MODERN_VERSIONS, ...LEGACY_VERSIONS] as const;

/** How a request speaks: with a handshake, or with everything in each request. */
export type McpEra = "legacy" | "modern";

/** `_meta` members of the modern revision. */
export const META = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  serverInfo: "io.modelcontextprotocol/serverInfo",
} as const;

/** JSON-RPC error codes in use. */
export const RPC_CODES = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  /** Resource not found, before the modern revision. */
  resourceNotFound: -32002,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const;

/** True for a revision with a handshake. */
export function isLegacyVersion(version: string): boolean {
  return (LEGACY_VERSIONS as readonly string[]).includes(version);
}

/** True for a stateless revision. */
export function isModernVersion(version: string): boolean {
  return (MODERN_VERSIONS as readonly string[]).includes(version);
}

/** A failure of the protocol itself, answered in the `error` member. A failure of a tool is a result instead. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly data: Readonly<Record<string, unknown>> | undefined;

  constructor(code: number, message: string, data?: Readonly<Record<string, unknown>>) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** -32602: something in `params` is missing or wrong. */
export function invalidParams(message: string, data?: Readonly<Record<string, unknown>>): RpcError {
  return new RpcError(RPC_CODES.invalidParams, message, data);
}

/** A JSON-RPC id; null is legal in the API document and in the legacy revisions. */
export type RpcId = string | number | null;

/** One message of a caller. Without `id` it is a notification, which gets no answer. */
export interface RpcMessage {
  readonly id: RpcId | undefined;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** A message that cannot be read; `id` is the id of its refusal. */
interface UnreadableMessage {
  readonly id: RpcId;
  readonly error: RpcError;
}

/** Reads one JSON-RPC 2.0 message. A batch is refused: it left the protocol with revision 2025-06-18. */
export function readMessage(text: string): RpcMessage | UnreadableMessage {
  let body: unknown;
  try {
    body = parseExactly(text);
  } catch {
    return { id: null, error: new RpcError(RPC_CODES.parseError, "The request body is not valid JSON.") };
  }
  if (Array.isArray(body)) return refuse(null, "A batch is not accepted: send one request at a time.");
  if (!isRecord(body)) return refuse(null, "The request must be a JSON object.");
  if (isTooDeep(body)) return refuse(null, `The request nests deeper than ${MAX_JSON_DEPTH} levels.`);
  const id = isId(body.id) ? body.id : null;
  if (body.jsonrpc !== "2.0") return refuse(id, '`jsonrpc` must be "2.0".');
  if (typeof body.method !== "string") return refuse(id, "`method` is required and must be a string.");
  if (body.id !== undefined && !isId(body.id)) return refuse(null, "`id` must be an integer, a string or null.");
  if (body.params !== undefined && !isRecord(body.params)) return refuse(id, "`params` must be an object.");
  return { id: body.id, method: body.method, params: body.params ?? {} };
}

function isId(value: unknown): value is RpcId {
  return value === null || typeof value === "string" || Number.isSafeInteger(value);
}

function refuse(id: RpcId, message: string): UnreadableMessage {
  return { id, error: new RpcError(RPC_CODES.invalidRequest, message) };
}
