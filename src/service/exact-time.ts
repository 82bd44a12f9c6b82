/** A time in UTC as a person reads it, e.g. `2026-03-04 10:15:00 UTC`; `iso` is as `toISOString` writes it. */
export function exactTime(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}
