import { createHash } from "node:crypto";
import { API_KEY_HEADER } from "../../wire/auth.ts";
import type { ServerCard } from "../../wire/mcp.ts";
import { MCP_PATH } from "./mcp-path.ts";
import { MCP_VERSIONS } from "./protocol.ts";
import { identifyServer } from "./server-identity.ts";

const SCHEMA = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json";

/** The bytes of the "MCP server card" with their strong `ETag`. */
export interface RenderedCard {
  readonly body: string;
  readonly etag: string;
}

/** Renders the card of the service at this address. Tools, prompts and resources are deliberately not on it. */
export function renderServerCard(baseUrl: string): RenderedCard {
  const card: ServerCard = {
    $schema: SCHEMA,
    ...identifyServer(baseUrl),
    remotes: [
      {
        type: "streamable-http",
        url: `${baseUrl}${MCP_PATH}`,
        supportedProtocolVersions: [...MCP_VERSIONS],
        headers: [
          {
            name: API_KEY_HEADER,
            description: "API key of a paired device; not needed by clients that sign in with OAuth.",
            isRequired: false,
            isSecret: true,
          },
        ],
      },
    ],
  };
  const body = `${JSON.stringify(card, null, 2)}\n`;
  return { body, etag: `"${createHash("sha256").update(body).digest("base64url")}"` };
}

/** True when a caller that sends this `If-None-Match` has the current card (weak comparison, RFC 9110, 13.1.2). */
export function isKnownCard(ifNoneMatch: string | undefined, { etag }: RenderedCard): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags = ifNoneMatch.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes("*") || tags.includes(etag);
}
