import type { SvcClient } from "../client/client.ts";
import { isSvcError } from "../errors.ts";
import type { Tool } from "../wire/tool.ts";
import { addActionDetail, type CatalogEntry, readCatalogEntry } from "./catalog-entry.ts";
import { fillGaps } from "./merge-entries.ts";

/**
 * The tool as the service describes it now, completed with what is already known of it (`listed`). Undefined when the
 * service has no description of that name. Throws SvcError for everything else.
 */
export async function fetchDescription(
  client: SvcClient,
  { name, listed }: { readonly name: string; readonly listed: CatalogEntry | undefined },
  call: { readonly signal: AbortSignal },
): Promise<CatalogEntry | undefined> {
  let tool: Tool;
  try {
    tool = await client.describeTool(name, call);
  } catch (error) {
    if (isSvcError(error) && error.code === "service_failure" && error.status === 404) return undefined;
    throw error;
  }
  const described = readCatalogEntry(tool, "describe");
  if (described === undefined || described.name !== name) return undefined;
  return complete(client, fillGaps(described, listed), call);
}

/** Asks the action detail for the effect when the description does not say it. */
async function complete(
  client: SvcClient,
  entry: CatalogEntry,
  call: { readonly signal: AbortSignal },
): Promise<CatalogEntry> {
  if (entry.effect !== "unknown" || entry.needsConfirmation !== undefined || entry.integration === "") return entry;
  try {
    return addActionDetail(entry, await client.getAction(entry.integration, entry.name, call));
  } catch (error) {
    if (isSvcError(error) && error.code !== "aborted") return entry;
    throw error;
  }
}
