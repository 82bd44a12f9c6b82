import { createHash } from "node:crypto";
import { isIP } from "node:net";
import { API_KEY_HEADER, INTERFACE_VERSION } from "../../shared/wire/constants.ts";
import { MCP_PATH, type ServerCard } from "../../shared/wire/mcp.ts";
import { MCP_VERSIONS } from "./protocol.ts";

const SCHEMA = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json";

/**
 * The bytes of the "MCP server card" of the service at this address, with their strong `ETag`. Tools, prompts and resources
 * are deliberately not on it.
 */
export function renderServerCard(baseUrl: string) {
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
export function isKnownCard(ifNoneMatch: string | undefined, { etag }: { readonly etag: string }): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags = ifNoneMatch.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes("*") || tags.includes(etag);
}

const TITLE = "svc";
const DESCRIPTION = "Finds and runs actions of your connected apps, with a human approving every change.";

/**
 * Name and version of the MCP server at this address, the same in the card and the handshake. The name is a reverse host
 * name and a name, e.g. `org.example.svc/svc`; an address without a host name of its own is `localhost/svc`.
 */
export function identifyServer(baseUrl: string) {
  const { hostname } = new URL(baseUrl);
  const hasName = isIP(hostname.replaceAll(/[[\]]/g, "")) === 0;
  const space = hasName ? hostname.split(".").reverse().join(".") : "localhost";
  return {
    name: `${space}/${TITLE}`,
    title: TITLE,
    version: INTERFACE_VERSION,
    description: DESCRIPTION,
    websiteUrl: baseUrl,
  };
}
