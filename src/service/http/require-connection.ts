import type { Connection } from "../connections/connections.ts";
import type { Integration } from "../integrations/integration.ts";
import { ServiceError } from "../service-error.ts";
import type { ServiceParts } from "./service-parts.ts";

/**
 * The connection with this id, and its app unless that is no longer installed.
 *
 * @throws ServiceError 404 `connection_not_found`.
 */
export async function requireConnection(
  { connections, catalog }: ServiceParts,
  id: string,
): Promise<{ connection: Connection; integration: Integration | undefined }> {
  const connection = (await connections.list()).find((candidate) => candidate.id === id);
  if (connection === undefined) throw new ServiceError(404, "connection_not_found", "There is no such connection.");
  return { connection, integration: catalog.integrations.find(({ slug }) => slug === connection.integration) };
}
