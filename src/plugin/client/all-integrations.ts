import type { IntegrationItem, IntegrationQuery } from "../../shared/wire/catalog.ts";
import type { SvcClient } from "./client.ts";
import type { CallOptions } from "./transport.ts";

const PAGE_SIZE = 100;
/** Bound against a service that lists apps without end. */
const MOST_INTEGRATIONS = 10_000;

/**
 * Every app of `GET /api/integrations`, whatever size the service gives its pages: reads on until a page brings nothing
 * new, all that `total` promises are there, or 10,000 were read. Throws what the endpoint throws.
 */
export async function listAllIntegrations(
  client: SvcClient,
  query: Omit<IntegrationQuery, "page" | "page_size">,
  options: CallOptions,
): Promise<IntegrationItem[]> {
  const found = new Map<string, IntegrationItem>();
  for (let page = 1; found.size < MOST_INTEGRATIONS; page += 1) {
    const before = found.size;
    const answer = await client.listIntegrations({ ...query, page, page_size: PAGE_SIZE }, options);
    for (const item of answer.items) found.set(item.integration_id, found.get(item.integration_id) ?? item);
    if (found.size === before || found.size >= (answer.total ?? found.size)) break;
  }
  return [...found.values()];
}
