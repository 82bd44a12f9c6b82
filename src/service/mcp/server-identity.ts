import { isIP } from "node:net";

/** Version of the interface this service serves ("Versioning" 1); the server card and the handshake both carry it. */
const VERSION = "1.0.0";
const TITLE = "svc";
const DESCRIPTION = "Finds and runs actions of your connected apps, with a human approving every change.";

/** Who the MCP server says it is, in every place that tells. */
export interface ServerIdentity {
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
