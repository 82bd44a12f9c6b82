import { McpConnectError } from "../mcp/connect-mcp.ts";
import { prepareMcp } from "../mcp/read-mcp-tools.ts";
import type { NewSource } from "../port/source.ts";
import type { KnownApp } from "./known-apps.ts";

const ASK_MS = 20_000;

/**
 * Asks a known app, an MCP server at its address of the table, what its owner has to sign in to.
 *
 * @returns what is to be stored; `open` when it asks for no sign-in, `unreachable` when it did not answer in 20 seconds.
 * @throws SvcError `invalid_config` for an answer that cannot be used.
 */
export async function prepareKnownApp({
  slug,
  name,
  address,
  options: { trust, scope },
}: KnownApp): Promise<NewSource | "open" | "unreachable"> {
  const signIn = scope === undefined ? {} : { signIn: { flow: "code", scopes: [...scope] } as const };
  const server = { transport: "http", url: address, headers: [], isPrivate: false, trusted: trust === true } as const;
  const place = { slug, name, definition: { ...server, ...signIn } };
  try {
    const { source, needsSignIn } = await prepareMcp(place, {}, AbortSignal.timeout(ASK_MS));
    return needsSignIn ? source : "open";
  } catch (error) {
    if (error instanceof McpConnectError) return "unreachable";
    throw error;
  }
}
