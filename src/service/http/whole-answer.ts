/**
 * An answer that is at hand whole, for `listen` alone, which writes it at once. On the way there it passes for a `Response`, of
 * which only the status is read, and fields are set by their names in small letters: to make the engine's own with its header, and
 * to read them again, takes longer than all else of a small request. To everybody else it is empty.
 */
export class WholeAnswer {
  readonly whole: string;
  readonly status: number;
  readonly headers: Map<string, string>;
  readonly body = null;

  constructor(whole: string, { status, headers }: { status: number; headers: Readonly<Record<string, string>> }) {
    this.whole = whole;
    this.status = status;
    this.headers = new Map(Object.entries(headers));
  }
}

/** Every answer to a program has these, unless it says otherwise: it is of this moment, and no page. */
export const FIELDS = { "cache-control": "no-store", "x-content-type-options": "nosniff" } as const;

/** Answers with JSON: of a value, or a text of it; with {@link FIELDS}. */
export function sendJson(
  body: object | string,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const whole = typeof body === "string" ? body : JSON.stringify(body);
  const answer: unknown = new WholeAnswer(whole, {
    status,
    headers: { "content-type": "application/json", ...FIELDS, ...headers },
  });
  return answer as Response;
}
