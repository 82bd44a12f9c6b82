import { request } from "undici";
import { expect } from "vitest";
import { z } from "zod";
import { readGolden } from "./read-golden.ts";

const exchangesSchema = z.array(
  z.strictObject({
    name: z.string(),
    request: z.strictObject({
      method: z.enum(["GET", "POST"]),
      path: z.string(),
      key: z.enum(["valid", "wrong", "none"]).default("valid"),
      body: z.unknown().optional(),
    }),
    response: z.strictObject({ status: z.int(), body: z.unknown() }),
  }),
);

/** One request with the answer the document asks for. */
export type GoldenExchange = z.infer<typeof exchangesSchema>[number];

/** Reads a hand-written list of exchanges below `golden/exchanges/`. */
export function readExchanges(name: string): GoldenExchange[] {
  return exchangesSchema.parse(readGolden(`exchanges/${name}`));
}

/** Headers of a request that `send` makes besides the key. */
export interface RawRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; a string is sent as it is. */
  readonly body?: unknown;
}

/** An answer, with its JSON body. */
export interface RawReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
}

/** Sends plain JSON over HTTP, with nothing of this package between. */
export async function send(baseUrl: string, { method, path, headers, body }: RawRequest): Promise<RawReply> {
  const reply = await request(`${baseUrl}${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await reply.body.text();
  return { status: reply.statusCode, headers: reply.headers, body: text === "" ? undefined : JSON.parse(text) };
}

/** The same with a key in the header of the service. */
export function sendWithKey(baseUrl: string, apiKey: string, raw: RawRequest): Promise<RawReply> {
  return send(baseUrl, { ...raw, headers: { "x-svc-api-key": apiKey, ...raw.headers } });
}

/** Plays one exchange against a running service and compares the answer. */
export async function playExchange(
  target: { url: string; apiKey: string },
  exchange: GoldenExchange,
): Promise<RawReply> {
  const { key, ...raw } = exchange.request;
  const keys = { valid: target.apiKey, wrong: "svc_live_wrong" };
  const reply = key === "none" ? await send(target.url, raw) : await sendWithKey(target.url, keys[key], raw);
  expect(reply.status, exchange.name).toBe(exchange.response.status);
  expectGolden(reply.body, exchange.response.body, exchange.name);
  return reply;
}

const MARKERS: Readonly<Record<string, (value: unknown) => boolean>> = {
  "«any»": (value) => value !== undefined,
  "«string»": (value) => typeof value === "string" && value !== "",
  "«integer»": Number.isInteger,
  "«boolean»": (value) => typeof value === "boolean",
  "«object»": isRecord,
  "«timestamp»": (value) => typeof value === "string" && !Number.isNaN(Date.parse(value)),
  // A schema that says nothing about arguments: null, or an object schema without properties.
  "«placeholder»": (value) => value === null || (isRecord(value) && Object.keys(properties(value)).length === 0),
};

/**
 * Compares an answer with a golden one: every golden member must be there and equal, further members are allowed, a
 * marker such as `«string»` stands for any value of its kind, and `["«array»"]` for an array of any length.
 */
export function expectGolden(actual: unknown, golden: unknown, path: string): void {
  if (typeof golden === "string" && golden in MARKERS) {
    expect(MARKERS[golden]?.(actual), `${path} is ${JSON.stringify(actual)}, not ${golden}`).toBe(true);
  } else if (Array.isArray(golden)) {
    expect(Array.isArray(actual), `${path} is no array`).toBe(true);
    const items: unknown[] = Array.isArray(actual) ? actual : [];
    if (golden[0] === "«array»") return;
    expect(items.length, `length of ${path}`).toBe(golden.length);
    for (const [index, item] of golden.entries()) expectGolden(items[index], item, `${path}[${index}]`);
  } else if (isRecord(golden)) {
    expect(isRecord(actual), `${path} is no object`).toBe(true);
    const members = isRecord(actual) ? actual : {};
    for (const [key, value] of Object.entries(golden)) expectGolden(members[key], value, `${path}.${key}`);
  } else {
    expect(actual, path).toEqual(golden);
  }
}

function properties(schema: Record<string, unknown>): Record<string, unknown> {
  return isRecord(schema.properties) ? schema.properties : {};
}

/** True for a JSON object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
