/** True for anything with members that is not a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A member that is a text with something in it. */
export function readText(holder: unknown, key: string): string | undefined {
  if (typeof holder !== "object" || holder === null) return undefined;
  const value: unknown = Reflect.get(holder, key);
  return typeof value === "string" && value !== "" ? value : undefined;
}
