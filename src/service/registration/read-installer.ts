import { cleanText } from "./clean-text.ts";

/** What an installer says about itself; nothing of it is verified, all of it is only shown. */
export interface InstallerFacts {
  /** What the human calls the client, e.g. "Claude Code". */
  readonly clientLabel: string | null;
  readonly hostname: string | null;
  readonly platform: string | null;
  /** Family and version of the agent, e.g. "claude-code 2.1". */
  readonly agent: string | null;
}

/** Longest text of one fact, in characters; longer ones are cut. */
const MAX_FACT = 80;

/**
 * Reads the free-form body of a bootstrap start: `client_label`, `hostname`, `platform`, `agent_family` and
 * `agent_version` when they are strings. Everything else is ignored, as the document lets a caller send anything.
 */
export function readInstaller(body: Readonly<Record<string, unknown>>): InstallerFacts {
  const read = (name: string) => (typeof body[name] === "string" ? cleanText(body[name], MAX_FACT) : null);
  const agent = [read("agent_family"), read("agent_version")].filter((part) => part !== null).join(" ");
  return {
    clientLabel: read("client_label"),
    hostname: read("hostname"),
    platform: read("platform"),
    agent: cleanText(agent, MAX_FACT),
  };
}
