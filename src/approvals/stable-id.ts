import { createHash } from "node:crypto";

/**
 * The id of something a human is asked in a call that a graph runs again after the answer: the same parts always give
 * the same id, and other arguments, files or accounts (all in the fingerprint) another. Written as a UUID, which no
 * graph mistakes for one of its own ids.
 */
export function createStableId(parts: readonly (string | number)[]): string {
  const hex = createHash("sha256").update(JSON.stringify(parts), "utf8").digest("hex");
  const groups = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)];
  return groups.join("-");
}
