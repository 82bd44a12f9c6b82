import { DAY_MS, toDay, toInstant, toLocal, type Zone } from "../../../shared/base/zones.ts";
import type { Span } from "./read-time.ts";
import { nameWeekday } from "./words.ts";

/** Hours of a day, in milliseconds after midnight, and names of weekdays. */
export interface DailyHours {
  readonly from: number;
  readonly to: number;
  readonly days: readonly string[];
}

/** The spans of at least `least` milliseconds in which nothing is busy, within the hours of each day of a zone. */
export function listFreeSpans(
  span: Span,
  busy: readonly Span[],
  o: { readonly least: number; readonly hours: DailyHours | undefined; readonly zone: Zone },
): Span[] {
  const windows = o.hours === undefined ? [span] : listWindows(span, o.hours, o.zone);
  const sorted = busy.toSorted((a, b) => a.from - b.from);
  return windows.flatMap((window) => subtract(window, sorted)).filter(({ from, to }) => to - from >= o.least);
}

function listWindows({ from, to }: Span, hours: DailyHours, zone: Zone): Span[] {
  const windows: Span[] = [];
  for (let day = toDay(toLocal(from, zone)); toInstant(day, zone) < to; day += DAY_MS) {
    if (!hours.days.includes(nameWeekday(day))) continue;
    const begin = Math.max(from, toInstant(day + hours.from, zone));
    const end = Math.min(to, toInstant(day + hours.to, zone));
    if (begin < end) windows.push({ from: begin, to: end });
  }
  return windows;
}

function subtract({ from, to }: Span, busy: readonly Span[]): Span[] {
  const free: Span[] = [];
  let at = from;
  for (const one of busy) {
    if (one.to <= at || one.from >= to) continue;
    if (one.from > at) free.push({ from: at, to: one.from });
    at = Math.max(at, one.to);
  }
  if (at < to) free.push({ from: at, to });
  return free;
}
