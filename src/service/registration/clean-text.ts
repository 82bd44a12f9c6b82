/**
 * Text that a caller sent and a human will read before deciding: control and direction characters are removed, so
 * that it cannot rewrite what stands around it; cut to `longest` characters; null when nothing is left.
 */
export function cleanText(text: string | undefined, longest: number): string | null {
  const plain = (text ?? "")
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ")
    .replace(/\s+/g, " ")
    .trim();
  return [...plain].slice(0, longest).join("").trim() || null;
}
