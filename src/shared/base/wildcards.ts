/** True when a text fits a pattern, in which `*` stands for any characters, also none; upper and lower case differ. */
export function fitsWildcards(pattern: string, text: string): boolean {
  // No regular expression: many stars would make it slow.
  const [start = "", ...parts] = pattern.split("*");
  const end = parts.pop();
  if (end === undefined) return text === start;
  if (!text.startsWith(start)) return false;
  let at = start.length;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.endsWith(end) && text.length - end.length >= at;
}
