import { toLine } from "../source-content.ts";
import type { NewSource } from "../source-store.ts";
import { connectMcp } from "./connect-mcp.ts";
import type { McpDefinition } from "./mcp-definition.ts";
import { readMcpTools } from "./read-mcp-tools.ts";

const NAME_MAX = 60;

/**
 * Asks a server once what it offers, and ends it again.
 *
 * @param place.name what people call it; default: the name the server gives itself.
 * @param settings values of the definition's variables or headers.
 * @returns the app, and one sentence for each thing the owner should know. Rejects with `McpConnectError`.
 */
export async function prepareMcp(
  place: { slug: string; name: string | undefined; definition: McpDefinition },
  settings: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<{ source: NewSource; notes: readonly string[] }> {
  const { slug, definition } = place;
  const session = await connectMcp(definition, settings, { signal });
  try {
    const server = session.client.getServerVersion();
    const said = [place.name, server?.title, server?.name].map((text) => toLine((text ?? "").slice(0, NAME_MAX)));
    const name = said.find((text) => text !== "") ?? slug;
    const { content, notes } = await readMcpTools(session.client, { slug, name, definition }, signal);
    return { source: { slug, kind: "mcp", name, definition, content }, notes };
  } finally {
    await session.close();
  }
}
