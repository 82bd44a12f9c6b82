/** The apps whose tool lists were read, and when. */
export interface ListedApps {
  /** Null for all. */
  readonly integrations: readonly string[] | null;
  /** Milliseconds since the epoch; of the oldest of several lists. */
  readonly syncedAt: number;
}

/** A younger list is used unchanged; an older one is used while a new one is fetched. */
const FRESH_MS = 6 * 60 * 60 * 1_000;

/** True for a list younger than 6 hours. `now`: milliseconds since the epoch. */
export function isFresh({ syncedAt }: ListedApps, now: number): boolean {
  return now - syncedAt < FRESH_MS;
}

/** Whether a list names the tools of all `wanted` apps; undefined stands for every app there is. */
export function coversApps({ integrations }: ListedApps, wanted: readonly string[] | undefined): boolean {
  if (integrations === null) return true;
  return wanted?.every((slug) => integrations.includes(slug)) ?? false;
}

/** The known lists after those of the `read` apps (undefined: all) arrive; fresh lists of other apps are kept. */
export function addListed(
  before: ListedApps | undefined,
  read: readonly string[] | undefined,
  now: number,
): ListedApps {
  if (before === undefined || read === undefined || !isFresh(before, now))
    return { integrations: read ?? null, syncedAt: now };
  if (before.integrations === null) return before;
  const integrations = [...new Set([...before.integrations, ...read])];
  return { integrations, syncedAt: integrations.length === new Set(read).size ? now : before.syncedAt };
}
