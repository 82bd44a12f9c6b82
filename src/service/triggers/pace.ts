/** Says whether one more may come now; counted for each name, in this process. */
export type Pace = (name: string) => boolean;

/** Lets `burst` through at once, and from then on `perSecond`. `now` gives milliseconds since the epoch. */
export function createPace(o: { burst: number; perSecond: number; now: () => number }): Pace {
  const buckets = new Map<string, { left: number; at: number }>();
  return (name) => {
    const now = o.now();
    const { left, at } = buckets.get(name) ?? { left: o.burst, at: now };
    const filled = Math.min(o.burst, left + (Math.max(now - at, 0) / 1000) * o.perSecond);
    buckets.set(name, { left: Math.max(filled - 1, 0), at: now });
    return filled >= 1;
  };
}
