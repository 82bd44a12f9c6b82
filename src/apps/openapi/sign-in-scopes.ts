import type { SourceContent } from "../port/source-content.ts";

/** As much of an operation as tells which scopes it needs. */
interface ScopedOperation {
  readonly method: string;
  readonly path: string;
  /** Alternatives: scopes by the security schemes that are needed together. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
}

/** The signs of RFC 6749, of which a space parts two scopes. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;
const ADMIN = /(?:^|[^a-z])admin/i;
const LABEL_MAX = 200;

/** Every scope that the operations name for a sign-in. */
export function listScopes(operations: readonly ScopedOperation[], title: string): string[] {
  return [...new Set(operations.flatMap(({ security }) => security.flatMap((way) => way[title] ?? [])))];
}

/**
 * As few scopes as let every operation that reads or writes be called, but for those that only an administrator can use.
 * Where one of several is enough, that is the one that serves most.
 */
export function chooseScopes(operations: readonly ScopedOperation[], title: string): string[] {
  const open = operations.flatMap(({ method, path, security }) => {
    const ways = security.flatMap((way) => (way[title] === undefined ? [] : [way[title]]));
    const usable = ways.filter((scopes) => scopes.every((scope) => SCOPE.test(scope) && !ADMIN.test(scope)));
    return method === "delete" || ADMIN.test(path) || usable.length === 0 ? [] : [usable];
  });
  const chosen = new Set<string>();
  const has = (scopes: readonly string[]) => scopes.every((scope) => chosen.has(scope));
  for (let left = open; ; ) {
    left = left.filter((ways) => !ways.some(has));
    if (left.length === 0) return [...chosen];
    const counts = new Map<string, { scopes: readonly string[]; count: number }>();
    for (const scopes of left.flat()) {
      const key = JSON.stringify(scopes);
      counts.set(key, { scopes, count: (counts.get(key)?.count ?? 0) + 1 });
    }
    const [best] = [...counts.values()].sort((a, b) => b.count - a.count);
    for (const scope of best?.scopes ?? []) chosen.add(scope);
  }
}

/** The check boxes of the scopes of a sign-in; undefined where no scope is known. */
export function describeScopes(
  name: string,
  scopes: ReadonlyMap<string, string>,
  chosen: readonly string[],
): SourceContent["settingsForm"][number] | undefined {
  const known = new Set([...scopes.keys(), ...chosen].filter((scope) => SCOPE.test(scope)));
  if (known.size === 0) return undefined;
  const options = [...known].map((value) => {
    const words = (scopes.get(value) ?? "").replaceAll(/\s+/g, " ").trim().slice(0, LABEL_MAX);
    return { value, label: words || value, ...(chosen.includes(value) && { preselected: true }) };
  });
  const help = "The provider may show them once more, and let you take some away.";
  return { name, label: "What agents may do there", kind: "scopes", options, optional: true, help };
}
