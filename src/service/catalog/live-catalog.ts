import type { Integration } from "../integrations/integration.ts";
import { type Catalog, createCatalog } from "./catalog.ts";

/** A catalog whose integrations can change while the service runs. */
export interface LiveCatalog {
  /** Always answers from one whole state; hold on to this object, not to what it returns. */
  readonly catalog: Catalog;
  /** Puts these integrations in the place of all others. Throws TypeError when two actions share one tool name. */
  replace(installed: readonly Integration[]): void;
}

/** Creates the catalog with the integrations a service starts with. */
export function createLiveCatalog(installed: readonly Integration[]): LiveCatalog {
  let current = createCatalog(installed);
  return {
    catalog: {
      get integrations() {
        return current.integrations;
      },
      get entries() {
        return current.entries;
      },
      find: (toolName) => current.find(toolName),
      findIntegration: (integrationId) => current.findIntegration(integrationId),
      findAction: (integrationId, actionId) => current.findAction(integrationId, actionId),
      suggest: (toolName, integration) => current.suggest(toolName, integration),
      search: (query, integration) => current.search(query, integration),
      searchIntegrations: (query) => current.searchIntegrations(query),
      searchAll: (query) => current.searchAll(query),
    },
    replace(next) {
      current = createCatalog(next);
    },
  };
}
