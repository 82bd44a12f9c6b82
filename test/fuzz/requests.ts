import fc, { type Arbitrary } from "fast-check";
import { anyText, fromSchema } from "./arbitraries.ts";
import type { FuzzDocument, FuzzOperation } from "./document.ts";
import { damage } from "./mutations.ts";

/** One request, ready to be sent. */
export interface FuzzRequest {
  readonly method: "GET" | "POST";
  /** With query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | undefined;
}

/** Good values by name, for paths, queries and bodies. */
export type Hints = Readonly<Record<string, Arbitrary<unknown>>>;

/** Requests for one operation: mostly with a live key, as described or damaged. */
export function requestsFor(
  operation: FuzzOperation,
  document: FuzzDocument,
  o: { hints: Hints; keys: Arbitrary<Record<string, string>> },
): Arbitrary<FuzzRequest> {
  const path = fc
    .tuple(fillPath(operation, o.hints), fillQuery(operation, document, o.hints))
    .map((parts) => parts.join(""));
  return fc
    .record({ path, key: o.keys, headers: fillHeaders(operation), body: fillBody(operation, document, o.hints) })
    .map(({ path, key, headers, body }) => ({
      method: operation.method,
      path,
      headers: { ...headers, ...key, ...(body.type === undefined ? {} : { "content-type": body.type }) },
      body: body.bytes,
    }));
}

/** A dot segment would be another path, and an empty one too. */
const segment = anyText.filter((text) => !/^(\.|%2e){0,2}$/i.test(text)).map(encode);

function fillPath({ path }: FuzzOperation, hints: Hints): Arbitrary<string> {
  const parts = path.split(/(\{[^}]+\})/).map((part): Arbitrary<string> => {
    const name = /^\{(.+)\}$/.exec(part)?.[1];
    if (name === undefined) return fc.constant(part);
    const hint = hints[name]?.map((value) => encode(String(value)));
    return hint === undefined ? segment : fc.oneof({ weight: 3, arbitrary: hint }, { weight: 1, arbitrary: segment });
  });
  return fc.tuple(...parts).map((texts) => texts.join(""));
}

function fillQuery({ parameters }: FuzzOperation, document: FuzzDocument, hints: Hints): Arbitrary<string> {
  const known = parameters
    .filter((parameter) => parameter.in === "query")
    .map(({ name, schema }) => {
      const good = (hints[name] ?? fromSchema(schema, document)).map(String);
      const value = fc.oneof({ weight: 4, arbitrary: good }, { weight: 1, arbitrary: anyText });
      return fc.option(
        value.map((text) => `${name}=${encode(text)}`),
        { freq: 4, nil: undefined },
      );
    });
  const stray = fc.option(
    fc.oneof(
      fc.tuple(anyText, anyText).map(([name, value]) => `${encode(name)}=${encode(value)}`),
      fc.constantFrom("&&", "=", "a=%zz", "limit=1&limit=2", "query[]=1", "query=%FF", "#"),
    ),
    { freq: 9, nil: undefined },
  );
  return fc.tuple(...known, stray).map((pairs) => {
    const given = pairs.filter((pair) => pair !== undefined);
    return given.length === 0 ? "" : `?${given.join("&")}`;
  });
}

function fillHeaders({ parameters }: FuzzOperation): Arbitrary<Record<string, string>> {
  const values = fc.oneof(fc.constantFrom("offload", "*", '"a"', "x".repeat(2000)), fc.stringMatching(/^[!-~]{0,20}$/));
  const own = parameters
    .filter((parameter) => parameter.in === "header")
    .map(({ name }) =>
      fc.option(
        values.map((value) => ({ [name]: value })),
        { nil: {} },
      ),
    );
  return fc.tuple(...own).map((headers) => Object.assign({}, ...headers));
}

function fillBody(
  { requestBody }: FuzzOperation,
  document: FuzzDocument,
  hints: Hints,
): Arbitrary<{ type?: string | undefined; bytes: string | Buffer | undefined }> {
  if (requestBody === undefined) return fc.constant({ bytes: undefined });
  const bodies = Object.entries(requestBody.content).map(([type, { schema = {} }]) => {
    const isBytes = "contentEncoding" in schema;
    const bytes = isBytes
      ? fc.uint8Array({ maxLength: 200 }).map((value) => Buffer.from(value))
      : damage(fromSchema(schema, document, hints));
    const sent = fc.oneof(
      { weight: 9, arbitrary: fc.constant(type) },
      {
        weight: 1,
        arbitrary: fc.constantFrom(undefined, "text/plain", "multipart/form-data", "application/json; charset=x"),
      },
    );
    return fc.record({ type: sent, bytes });
  });
  return fc.oneof(...bodies);
}

/** Percent-encodes what a URL cannot carry, lone surrogates too. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
