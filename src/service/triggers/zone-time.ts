const DAY_MS = 24 * 60 * 60 * 1000;

/** Reads the clocks of a time zone. Times are milliseconds since the epoch, those of its clocks as if they were UTC. */
export interface ZoneClock {
  /** What clocks show at a moment. */
  toWall(at: number): number;
  /** The first moment at which clocks show this, or anything later where they skip it. */
  toMoment(wall: number): number;
}

/** @throws RangeError for a zone that is not known. */
export function openZone(zone: string): ZoneClock {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  const toWall = (at: number) => {
    const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
    return Date.UTC(year, month - 1, day, hour, minute, second);
  };
  const offsetAt = (at: number) => toWall(at) - at;
  return {
    toWall,
    toMoment(wall) {
      // Clocks are set once in two days at most, so one of both offsets is right unless they skip this time.
      const before = wall - offsetAt(wall - DAY_MS);
      const after = wall - offsetAt(wall + DAY_MS);
      const fitting = [before, after].filter((at) => toWall(at) === wall);
      return fitting.length > 0 ? Math.min(...fitting) : findEnd(toWall, wall);
    },
  };
}

/** The moment at which clocks jump over a time, to the second. */
function findEnd(toWall: ZoneClock["toWall"], wall: number): number {
  let [low, high] = [wall - 2 * DAY_MS, wall + 2 * DAY_MS];
  while (high - low > 1000) {
    const middle = Math.floor((low + high) / 2000) * 1000;
    if (toWall(middle) >= wall) high = middle;
    else low = middle;
  }
  return high;
}
