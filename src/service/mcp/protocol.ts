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
