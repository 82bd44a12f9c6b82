import { readBody } from "../../service/fetch/read-body.ts";

const ANSWER_MS = 60_000;

/** The bytes at an address, or why there are none: a sentence without its end. */
type Answered =
  | { readonly ok: true; readonly bytes: Buffer }
  | { readonly ok: false; readonly problem: string; readonly cause?: unknown };

/**
 * Reads the content at an address, within a minute.
 *
 * @param o.maxBytes of the body; a longer one is not read to its end.
 */
export async function readAddress(
  url: string,
  o: { maxBytes: number; redirect: "follow" | "error" },
): Promise<Answered> {
  try {
    const answer = await fetch(url, { redirect: o.redirect, signal: AbortSignal.timeout(ANSWER_MS) });
    if (!answer.ok) return { ok: false, problem: `${url} answered ${answer.status}` };
    if (/^text\/html\b/i.test(answer.headers.get("content-type") ?? "")) {
      return { ok: false, problem: `${url} answered with a web page` };
    }
    const bytes = answer.body === null ? Buffer.alloc(0) : await readBody(answer.body, o.maxBytes);
    if (bytes === undefined) return { ok: false, problem: `${url} is longer than ${o.maxBytes} bytes` };
    return { ok: true, bytes };
  } catch (cause) {
    return { ok: false, problem: `${url} cannot be reached (${describe(cause)})`, cause };
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return "no reason given";
  return error.cause instanceof Error && error.cause.message !== "" ? error.cause.message : error.message;
}
