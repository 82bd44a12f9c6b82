import { redact } from "./redact.ts";

/** Longest piece of a foreign body that a message may quote. */
const EXCERPT_LENGTH = 120;

/** Parses a body as JSON, whatever its content type says; otherwise gives a short, clean excerpt for a message. */
export function readJson(bytes: Uint8Array, secrets: readonly string[]): { json: unknown; excerpt: string } {
  if (bytes.length === 0) return { json: undefined, excerpt: "" };
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return { json: JSON.parse(text), excerpt: "" };
  } catch {
    return { json: undefined, excerpt: makeExcerpt(bytes, secrets) };
  }
}

function makeExcerpt(bytes: Uint8Array, secrets: readonly string[]): string {
  const head = new TextDecoder().decode(bytes.subarray(0, 4096));
  const text = redact(head, secrets)
    .replace(/<(script|style)\b[\s\S]*?<\/\1>/gi, " ")
    .replace(/<[^>]*>/g, " ")
    .replace(/[^\p{L}\p{N}\p{P}\p{S}]+/gu, " ")
    .trim();
  const short = text.length <= EXCERPT_LENGTH ? text : `${text.slice(0, EXCERPT_LENGTH)}…`;
  return JSON.stringify(short === "" ? `${bytes.length} bytes` : short);
}
