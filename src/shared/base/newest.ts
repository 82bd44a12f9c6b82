/**
 * The value with this key, made where it is not kept, and the newest from now on. Of more than `most` the one that was
 * used longest ago is dropped; as long as there is room for as many again, their order is left alone, since a map that is put
 * in order at every look is copied every few looks.
 */
export function keepNewest<Value>(kept: Map<string, Value>, key: string, most: number, make: () => Value): Value {
  const known = kept.get(key);
  if (known !== undefined && kept.size <= most / 2) return known;
  const value = known ?? make();
  kept.delete(key);
  kept.set(key, value);
  if (kept.size > most) kept.delete(kept.keys().next().value ?? "");
  return value;
}

/**
 * Keeps values by their keys, as long as together they are no larger than `most`; then those that were used longest ago are
 * dropped. A failure is not kept.
 *
 * @param sizeOf of a value, in the unit of `most`; a key counts its characters
 */
export function createShelf<Value>(most: number, sizeOf: (value: Value) => number) {
  const kept = new Map<string, Value>();
  let size = 0;
  const drop = (key: string) => {
    const value = kept.get(key);
    if (value !== undefined && kept.delete(key)) size -= sizeOf(value) + key.length;
  };
  return async (key: string, make: () => Promise<Value>): Promise<Value> => {
    const known = kept.get(key);
    if (known !== undefined && size <= most / 2) return known;
    const value = known ?? (await make());
    // Also one that another call has made meanwhile.
    drop(key);
    kept.set(key, value);
    size += sizeOf(value) + key.length;
    for (const oldest of kept.keys()) {
      if (size <= most) break;
      drop(oldest);
    }
    return value;
  };
}
