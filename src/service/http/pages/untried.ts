import type { Connection } from "../../connections/connection.ts";
import type { ServiceParts } from "../service-parts.ts";

/**
 * Ids of healthy connections of which nothing shows that they work: their app tries no settings when it is connected, and
 * the log has no successful call.
 */
export async function listUntried(
  { catalog, activity }: Pick<ServiceParts, "catalog" | "activity">,
  connections: readonly Connection[],
): Promise<ReadonlySet<string>> {
  const tries = new Set(catalog.integrations.filter((app) => app.testSettings !== undefined).map(({ slug }) => slug));
  const open = connections.filter(({ integration, state }) => state === "healthy" && !tries.has(integration));
  const found = await Promise.all(open.map(async ({ id }) => ((await activity.hasSucceeded(id)) ? [] : [id])));
  return new Set(found.flat());
}
