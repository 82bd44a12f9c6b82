import type { CatalogEntry } from "../../../src/service/catalog/catalog-entry.ts";
import { checkArguments } from "../../../src/service/executions/read-requests.ts";
import { ServiceError } from "../../../src/service/service-error.ts";
import { createLab } from "../lab-integration.ts";

const { integration } = createLab();

/** A tool with these properties. */
export function entryWith(properties: Record<string, unknown>, more: Record<string, unknown> = {}): CatalogEntry {
  const [action] = integration.actions;
  if (action === undefined) throw new Error("The lab has no actions.");
  return {
    toolName: "lab_any",
    integration,
    action: { ...action, inputSchema: { type: "object", properties, additionalProperties: false, ...more } },
  };
}

/** The refusal of arguments. */
export function refusal(entry: CatalogEntry, args: unknown): ServiceError {
  try {
    checkArguments(entry, args);
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error("The arguments were accepted.");
}
