/** A member that is a text with something in it. */
export function readText(holder: unknown, key: string): string | undefined {
  if (typeof holder !== "object" || holder === null) return undefined;
  const value: unknown = Reflect.get(holder, key);
  return typeof value === "string" && value !== "" ? value : undefined;
}
