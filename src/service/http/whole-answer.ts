/**
 * An answer whose bytes are all at hand, for `listen` alone: it writes them at once. The engine makes a stream of the body of
 * any other `Response`, and reading that takes longer than all else of a small request; to everybody else this one is empty.
 */
export class WholeAnswer extends Response {
  readonly whole: Uint8Array;

  constructor(whole: Uint8Array, init: { status: number; headers: Readonly<Record<string, string>> }) {
    super(null, init);
    this.whole = whole;
  }
}

/** Answers with JSON: of a value, or the text or the bytes of some. */
export function sendJson(
  body: object | string | Uint8Array,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const whole = body instanceof Uint8Array ? body : Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  return new WholeAnswer(whole, { status, headers: { "content-type": "application/json", ...headers } });
}
