import type { CatalogEntry } from "./catalog-entry.ts";

/** A fresh description, completed with what the list said about the same tool. */
export function fillGaps(described: CatalogEntry, listed: CatalogEntry | undefined): CatalogEntry {
  if (listed === undefined) return described;
  return {
    ...described,
    integration: described.integration === "" ? listed.integration : described.integration,
    effect: described.effect === "unknown" ? listed.effect : described.effect,
    needsConfirmation: described.needsConfirmation ?? listed.needsConfirmation,
  };
}

/** A fresh list entry that keeps the description known from before. */
export function keepDescription(listed: CatalogEntry, known: CatalogEntry | undefined): CatalogEntry {
  if (known?.schemaHash === undefined) return listed;
  const { inputSchema, schemaHash, connections, askBefore, policyReason, keyKeptMs } = known;
  const merged = fillGaps(listed, known);
  return { ...merged, inputSchema, schemaHash, connections, askBefore, policyReason, keyKeptMs };
}
