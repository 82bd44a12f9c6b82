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

/**
 * Puts a new list into the entries that are `known`, by name. Their descriptions stay; entries of the apps in `scope`
 * that the list no longer has go when it is complete.
 */
export function mergeList(
  known: Map<string, CatalogEntry>,
  listed: readonly CatalogEntry[],
  scope: {
    /** Apps the list is of; undefined for all. */
    readonly integrations: readonly string[] | undefined;
    readonly isComplete: boolean;
  },
): void {
  const names = new Set(listed.map((entry) => entry.name));
  for (const [name, entry] of known) {
    const isInScope = scope.integrations === undefined || scope.integrations.includes(entry.integration);
    if (scope.isComplete && isInScope && !names.has(name)) known.delete(name);
  }
  for (const entry of listed) known.set(entry.name, keepDescription(entry, known.get(entry.name)));
}

/** A fresh list entry that keeps the description known from before. */
function keepDescription(listed: CatalogEntry, known: CatalogEntry | undefined): CatalogEntry {
  if (known?.schemaHash === undefined) return listed;
  const { inputSchema, schemaHash, connections, askBefore, policyReason, keyKeptMs } = known;
  const merged = fillGaps(listed, known);
  return { ...merged, inputSchema, schemaHash, connections, askBefore, policyReason, keyKeptMs };
}
