import type { ServiceParts } from "../service-parts.ts";

/** Name of an app for people; its slug when the app is no longer installed. */
export function nameApp({ catalog }: Pick<ServiceParts, "catalog">, slug: string): string {
  return catalog.integrations.find((integration) => integration.slug === slug)?.name ?? slug;
}

/** Names of the connected apps, each once. */
export async function listConnectedApps(parts: Pick<ServiceParts, "catalog" | "connections">): Promise<string[]> {
  const connected = await parts.connections.list();
  return [...new Set(connected.map((connection) => nameApp(parts, connection.integration)))];
}
