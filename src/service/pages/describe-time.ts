/** A distance in time as a person says it, e.g. "3 minutes ago", "in 12 minutes", "just now". */
export function describeTime(iso: string, now: number): string {
  const seconds = Math.round((Date.parse(iso) - now) / 1000);
  const size = Math.abs(seconds);
  if (size < 45) return "just now";
  const [amount, unit] =
    size < 3600 ? [size / 60, "minute"] : size < 86_400 ? [size / 3600, "hour"] : [size / 86_400, "day"];
  const count = Math.max(1, Math.round(amount));
  const phrase = `${count} ${unit}${count === 1 ? "" : "s"}`;
  return seconds < 0 ? `${phrase} ago` : `in ${phrase}`;
}
