/** Deepest JSON a request may hold; beyond some thousands the engine's own JSON writer runs out of stack. */
export const MAX_JSON_DEPTH = 256;

/** True when objects and arrays nest deeper than {@link MAX_JSON_DEPTH}. Works through its own list, not the stack. */
export function isTooDeep(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; depth <= MAX_JSON_DEPTH; depth += 1) {
    const next: unknown[] = [];
    for (const one of level) {
      if (typeof one !== "object" || one === null) continue;
      for (const member of Object.values(one)) if (typeof member === "object" && member !== null) next.push(member);
    }
    if (next.length === 0) return false;
    level = next;
  }
  return true;
}
