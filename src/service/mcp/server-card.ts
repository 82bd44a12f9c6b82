import { createHash } from "node:crypto";
import { isIP } from "node:net";
import { API_KEY_HEADER } from "../../wire/constants.ts";
import { MCP_PATH, type ServerCard } from "../../wire/mcp.ts";
import { MCP_VERSIONS } from "./protocol.ts";

const SCHEMA = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json";

/** The bytes of the "MCP server card" with their strong `ETag`. */
interface RenderedCard {
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

/** Version of the interface this service serves ("Versioning" 1); the server card and the handshake both carry it. */
const VERSION = "1.0.0";
const TITLE = "svc";
const DESCRIPTION = "Finds and runs actions of your connected apps, with a human approving every change.";

/** Name and version of the MCP server, the same in the card and the handshake. */
interface ServerIdentity {
  /** Reverse host name and name, e.g. `org.example.svc/svc`; an address without a host name of its own is `localhost/svc`. */
  readonly name: string;
  readonly title: string;
  readonly version: string;
  readonly description: string;
  readonly websiteUrl: string;
}

/** The identity of the service at this address. */
export function identifyServer(baseUrl: string): ServerIdentity {
  const { hostname } = new URL(baseUrl);
  const hasName = isIP(hostname.replaceAll(/[[\]]/g, "")) === 0;
  const space = hasName ? hostname.split(".").reverse().join(".") : "localhost";
  return { name: `${space}/${TITLE}`, title: TITLE, version: VERSION, description: DESCRIPTION, websiteUrl: baseUrl };
}
