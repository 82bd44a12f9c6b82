import { findZone, toInstant, toLocal, type Zone } from "../../shared/base/zones.ts";

/** A cron expression of five fields, and the IANA time zone in which it is meant. */
export interface Schedule {
  readonly cron: string;
  readonly zone: string;
}

/** Runs of one outage that are counted. */
const MAX_COUNTED = 1000;

const QUARTER_MS = 15 * 60_000;

/**
 * The first run after a moment (milliseconds since the epoch); undefined when there is none. Where clocks are set forward, a
 * time that they skip is the next one there is; where they are set back, a time that comes twice counts the first time. An
 * expression for every hour keeps its pace instead.
 */
export async function nextRun(schedule: Schedule, after: number): Promise<number | undefined> {
  return (await open(schedule))(after);
}

/** How many runs lie after `from` and not after `to`, up to 1,000; both in milliseconds since the epoch. */
export async function countRuns(schedule: Schedule, { from, to }: { from: number; to: number }): Promise<number> {
  const next = await open(schedule);
  let count = 0;
  for (let at = next(from); at !== undefined && at <= to; at = next(at)) {
    count += 1;
    if (count === MAX_COUNTED) break;
  }
  return count;
}

/** What is wrong with a schedule. */
export async function checkSchedule(schedule: Schedule): Promise<{ field: "cron" | "zone"; text: string } | undefined> {
  // Offsets such as +02:00 are no zones: they know no summer time.
  if (findZone(schedule.zone) === undefined) {
    return { field: "zone", text: "must be a time zone such as Europe/Berlin or UTC" };
  }
  const hint = 'needs five fields: minute, hour, day of the month, month, day of the week, such as "0 8 * * 1-5"';
  if (!/^\S+(\s+\S+){4}$/.test(schedule.cron.trim())) return { field: "cron", text: hint };
  try {
    if ((await nextRun(schedule, Date.UTC(2026, 0, 1))) === undefined)
      return { field: "cron", text: "names a time that never comes" };
  } catch {
    return { field: "cron", text: hint };
  }
  return undefined;
}

/** Most services have no schedule: the package is loaded when there is one. */
async function open({ cron, zone }: Schedule): Promise<(after: number) => number | undefined> {
  const { Cron } = await import("croner");
  const [, hour] = cron.trim().split(/\s+/);
  if (hour === "*") {
    const steady = new Cron(cron.trim(), { timezone: zone, mode: "5-part" });
    return (after) => steady.nextRun(new Date(after))?.getTime();
  }
  const clocks = findZone(zone);
  if (clocks === undefined) throw new RangeError(`${zone} is no time zone`);
  const onClocks = new Cron(cron.trim(), { timezone: "UTC", mode: "5-part" });
  return (after) => {
    let wall = onClocks.nextRun(new Date(toLocal(after, clocks)));
    // Behind a time that came twice, clocks show what was counted already.
    while (wall !== null && toMoment(wall.getTime(), clocks) <= after) wall = onClocks.nextRun(wall);
    return wall === null ? undefined : toMoment(wall.getTime(), clocks);
  };
}

/** The first moment at which clocks show this, or anything later where they skip it. */
function toMoment(wall: number, zone: Zone): number {
  const at = toInstant(wall, zone);
  if (toLocal(at, zone) === wall) return at;
  // Clocks jumped over it not long before, at a full quarter of an hour.
  let jump = Math.floor(at / QUARTER_MS) * QUARTER_MS;
  while (toLocal(jump - QUARTER_MS, zone) > wall) jump -= QUARTER_MS;
  return jump;
}
