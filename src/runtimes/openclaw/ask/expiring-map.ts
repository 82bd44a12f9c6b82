/** A map of at most `limit` entries, the oldest of which are dropped; each expires after its own milliseconds. */
export function createExpiringMap<Value>(now: () => number, limit: number) {
  const entries = new Map<string, { readonly value: Value; readonly until: number }>();
  const get = (key: string) => {
    const entry = entries.get(key);
    return entry !== undefined && now() < entry.until ? entry.value : undefined;
  };
  return {
    get,
    put(key: string, value: Value, ms: number) {
      entries.delete(key);
      entries.set(key, { value, until: now() + ms });
      for (const oldest of entries.keys()) {
        if (entries.size <= limit) break;
        entries.delete(oldest);
      }
    },
    take(key: string) {
      const value = get(key);
      entries.delete(key);
      return value;
    },
  };
}
