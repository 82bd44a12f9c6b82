import type { Action, Integration } from "../integrations/integration.ts";

/** One callable tool: an action of an integration under its full name. */
export interface CatalogEntry {
  /** `<slug>_<action id>`. */
  readonly toolName: string;
  readonly integration: Integration;
  readonly action: Action;
}
