/** A time as the clock of this machine shows it, e.g. `2026-03-04 10:15:00`, for a person at the terminal. */
export function toLocalTime(iso: string): string {
  return new Date(iso).toLocaleString("sv-SE");
}
