import { request } from "undici";

/** An answer of the service. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The parsed body; undefined when it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of many shapes
  readonly json: any;
}

/** One request, with nothing of this package between. */
export async function call(
  url: string,
  o: { method?: string; headers?: Record<string, string>; body?: string | Buffer; key?: string } = {},
): Promise<Reply> {
  const reply = await request(url, {
    method: o.method ?? "GET",
    headers: { ...(o.key === undefined ? {} : { "x-svc-api-key": o.key }), ...o.headers },
    ...(o.body === undefined ? {} : { body: o.body }),
  });
  const text = await reply.body.text();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  return { status: reply.statusCode, headers: reply.headers, text, json };
}

/** Executes a tool. */
export function execute(service: { url: string; apiKey: string }, tool: string, body: unknown = {}): Promise<Reply> {
  return call(`${service.url}/api/tools/${tool}/execute`, {
    method: "POST",
    key: service.apiKey,
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

/** Sends JSON without a key. */
export function post(url: string, body: unknown = {}): Promise<Reply> {
  return call(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
}
