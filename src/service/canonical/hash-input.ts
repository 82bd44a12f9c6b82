import { createHash } from "node:crypto";

/** SHA-256 (hex) over JSON with sorted keys: equal for values that differ only in the order of their members. */
export function hashInput(value: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify(value, (_key, member: unknown) => sortMembers(member)) ?? "")
    .digest("hex");
}

function sortMembers(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
