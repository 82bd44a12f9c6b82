import type { ProtocolError } from "@modelcontextprotocol/client";
import { ServiceError } from "../../service/service-error.ts";
import { type BearerChallenge, refuseScopes } from "../port/bearer-challenge.ts";
import { hideSecrets } from "../port/hide-secrets.ts";
import { createProviderError, type ProviderFailure } from "../port/provider-failure.ts";
import { readProblem } from "../port/provider-words.ts";
import type { StoredAction } from "../port/source-content.ts";
import { McpConnectError } from "./connect-mcp.ts";
import { McpHttpError, readOwnCode } from "./mcp-http-error.ts";
import { peekSdk } from "./mcp-sdk.ts";

/** Whose failure it is. */
interface FailedMcpCall {
  readonly app: string;
  readonly action: Pick<StoredAction, "level" | "idempotent">;
  /** Of the connection; what the server says may repeat them. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/** Translates a failed call of an MCP server for its caller. */
export function createMcpError(error: unknown, call: FailedMcpCall): unknown {
  const own = findCause(error, ServiceError) ?? refuseScopes(findCause(error, McpHttpError)?.challenge ?? {}, call.app);
  if (own !== undefined) return own;
  const failure = error instanceof McpConnectError ? readConnectFailure(error) : readFailure(error);
  if (failure !== undefined) {
    const message = failure.message && hideSecrets(failure.message, call.settings);
    return createProviderError({ ...failure, message }, call);
  }
  const sdk = peekSdk();
  if (sdk === undefined || !(error instanceof sdk.ProtocolError)) return error;
  const said = hideSecrets(error.message, call.settings).slice(0, 300);
  return new ServiceError(500, "execution_failed", `${call.app}: ${said}`, { type: "provider", ...readData(error) });
}

/** Status with which a server refused a connection for good: asking again with the same credentials changes nothing. */
export function isRefusal(error: unknown): boolean {
  if (findCause(error, ServiceError)?.status === 401) return true;
  const failure = error instanceof McpConnectError ? readConnectFailure(error) : undefined;
  return failure?.kind === "status" && failure.status === 401;
}

/** The challenge of a server that refused a connection because nobody is signed in; undefined for any other failure. */
export function findSignInChallenge(error: unknown): BearerChallenge | undefined {
  const refused = findCause(error, McpHttpError);
  return refused?.failure.kind === "status" && refused.failure.status === 401 ? refused.challenge : undefined;
}

/** True when a server does not know the session of a request, and so has done nothing. */
export function isUnknownSession(error: unknown): boolean {
  const sdk = peekSdk();
  return sdk !== undefined && error instanceof sdk.SdkHttpError && (error.status === 404 || error.status === 400);
}

/** Nothing was sent, so nothing can have happened. */
function readConnectFailure(error: McpConnectError): ProviderFailure {
  const failure = readFailure(error.cause);
  if (failure?.kind === "status" && (failure.status < 500 || failure.status === 503)) return failure;
  const said = error.complaint.trim().split("\n").at(-1);
  return { kind: "unreachable", message: said || failure?.message || error.message };
}

function readFailure(error: unknown): ProviderFailure | undefined {
  const http = findCause(error, McpHttpError);
  if (http !== undefined) return http.failure;
  const sdk = peekSdk();
  if (sdk === undefined) return error instanceof Error ? { kind: "garbage" } : undefined;
  const { SdkErrorCode } = sdk;
  if (error instanceof sdk.SdkHttpError) return { kind: "status", status: error.status ?? 500 };
  if (error instanceof sdk.ProtocolError) return readProtocolError(error, sdk.ProtocolErrorCode);
  // Answers that are no message of the protocol, in any way the SDK has of saying so.
  if (!(error instanceof sdk.SdkError)) return error instanceof Error ? { kind: "garbage" } : undefined;
  switch (error.code) {
    case SdkErrorCode.ConnectionClosed:
    case SdkErrorCode.RequestTimeout:
    case SdkErrorCode.SendFailed:
      return { kind: "lost", message: error.message };
    case SdkErrorCode.NotConnected:
      return { kind: "unreachable", message: error.message };
    default:
      // The SDK adds what a schema expected.
      return {
        kind: "garbage",
        message: error.message.replace(/:?\s*\[\s*\{.*$|(?<=Invalid result for [^\s:]+):.*$/s, ""),
      };
  }
}

function readProtocolError(
  error: ProtocolError,
  codes: NonNullable<ReturnType<typeof peekSdk>>["ProtocolErrorCode"],
): ProviderFailure | undefined {
  const { code, message } = error;
  const own = readOwnCode(code, message);
  if (own !== undefined) return own;
  if (code === codes.InvalidParams) return { kind: "status", status: 400, message, ...readData(error) };
  if (code === codes.MethodNotFound) return { kind: "status", status: 404, message };
  return undefined;
}

/** What the server added for whoever corrects the call. */
function readData({ data }: ProtocolError): { details?: readonly string[] } {
  const { details = [] } = data === undefined || data === null ? {} : readProblem({ errors: [data].flat() });
  return details.length > 0 ? { details } : {};
}

function findCause<T extends Error>(error: unknown, kind: new (...args: never[]) => T): T | undefined {
  if (error instanceof kind) return error;
  return error instanceof Error ? findCause(error.cause, kind) : undefined;
}
