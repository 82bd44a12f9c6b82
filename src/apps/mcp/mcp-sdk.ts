type Sdk = typeof import("@modelcontextprotocol/client");

let loaded: Sdk | undefined;

/** Loads the client of the MCP SDK, for the first connection to a server. */
export async function loadSdk(): Promise<Sdk> {
  loaded ??= await import("@modelcontextprotocol/client");
  return loaded;
}

/** The same; undefined as long as nothing was connected, when no error can be one of its own. */
export function peekSdk(): Sdk | undefined {
  return loaded;
}
