import { isTooDeep, MAX_JSON_DEPTH } from "../json-depth.ts";
import { RPC_CODES } from "./protocol.ts";
import { RpcError } from "./rpc-error.ts";

/** A JSON-RPC id; null is legal in the API document and in the legacy revisions. */
export type RpcId = string | number | null;

/** One message of a caller. Without `id` it is a notification, which gets no answer. */
export interface RpcMessage {
  readonly id: RpcId | undefined;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** What is known of a message that cannot be read: the id its refusal carries. */
interface UnreadableMessage {
  readonly id: RpcId;
  readonly error: RpcError;
}

/** Reads one JSON-RPC 2.0 message. A batch is refused: it left the protocol with revision 2025-06-18. */
export function readMessage(text: string): RpcMessage | UnreadableMessage {
  let body: unknown;
  try {
    body = JSON.parse(text);
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

/** True for what {@link readMessage} could not read. */
export function isUnreadable(message: RpcMessage | UnreadableMessage): message is UnreadableMessage {
  return "error" in message;
}

/** True for a JSON object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isId(value: unknown): value is RpcId {
  return value === null || typeof value === "string" || Number.isSafeInteger(value);
}

function refuse(id: RpcId, message: string): UnreadableMessage {
  return { id, error: new RpcError(RPC_CODES.invalidRequest, message) };
}
