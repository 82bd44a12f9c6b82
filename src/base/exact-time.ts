/** A time in UTC as most programs write it: day, time, and a fraction of a second that counts. */
const WRITTEN = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.0+|(\.\d{1,9}))?Z$/;

/** Such a time as a person reads it, with nothing left out; undefined for any other text. */
export function readableTime(text: string): string | undefined {
  const [, day, time, fraction = ""] = WRITTEN.exec(text) ?? [];
  return day && `${day} ${time}${fraction} UTC`;
}

/** A time in UTC to the second, as a person reads it, e.g. `2026-03-04 10:15:00 UTC`; `iso` is as `toISOString` writes it. */
export function exactTime(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}
