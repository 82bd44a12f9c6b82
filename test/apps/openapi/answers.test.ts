import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { sendRequest } from "../../../src/apps/openapi/openapi-kind.ts";
import { createAppAgent } from "../../../src/service/fetch/guarded-connector.ts";
import { ServiceError } from "../../../src/service/service-error.ts";
import { type MockAnswer, startMockApi } from "./mock-api.ts";

/** What an API answers, as it reaches a caller: more than the body, in any charset, and words of errors. */

let api: Awaited<ReturnType<typeof startMockApi>>;
const agent = createAppAgent({ isPrivate: true, silenceMs: 10_000 });

beforeAll(async () => {
  api = await startMockApi();
});
afterEach(() => {
  api.seen.length = 0;
});
afterAll(async () => {
  await agent.close();
  await api.close();
});

async function ask(method: string, ...answers: MockAnswer[]): Promise<unknown> {
  api.answer(...answers);
  const level = method === "POST" ? ("write" as const) : ("read" as const);
  const action = { level, idempotent: false, title: "t", id: "t" } as never;
  const connection = { integration: "x", id: "c", label: "c", settings: {}, scopes: [], state: "healthy" as const };
  const context = { signal: AbortSignal.timeout(20_000), now: Date.now, connection, file: () => undefined as never };
  const { dispatcher } = agent;
  const request = { method, url: new URL(`${api.url}/a`), headers: {}, body: undefined };
  return sendRequest(request, { dispatcher, app: "Echo", action, context });
}

const typed = (body: string | Buffer, type: string, more: object = {}) => ({
  body,
  headers: { "content-type": type, ...more },
});

describe("headers that belong to an answer", () => {
  test.each<[string, string, MockAnswer, unknown]>([
    [
      "where something is that was made",
      "POST",
      { status: 201, body: "", headers: { location: "/things/77" } },
      { status: 201, headers: { location: "/things/77" } },
    ],
    [
      "what comes next, and how much there is",
      "GET",
      typed('[{"id":1}]', "application/json", { link: '</l?page=2>; rel="next"', "x-total-count": "120" }),
      { body: [{ id: 1 }], headers: { link: '</l?page=2>; rel="next"', "x-total-count": "120" } },
    ],
    [
      "which version it is",
      "GET",
      typed('{"id":1}', "application/json", { etag: '"v7"' }),
      { id: 1, headers: { etag: '"v7"' } },
    ],
    [
      "an object with such a member",
      "GET",
      typed('{"headers":1}', "application/json", { etag: '"v7"' }),
      { body: { headers: 1 }, headers: { etag: '"v7"' } },
    ],
    ["none of weak ones and of others", "GET", typed("{}", "application/json", { etag: 'W/"v7"', "x-id": "7" }), {}],
    [
      "of HEAD all that it tells",
      "HEAD",
      typed("", "text/csv", { etag: 'W/"1"', "last-modified": "Sat, 28 Nov 2026 10:00:00 GMT" }),
      {
        status: 200,
        headers: { "content-type": "text/csv", etag: 'W/"1"', "last-modified": "Sat, 28 Nov 2026 10:00:00 GMT" },
      },
    ],
    [
      "when to look again",
      "POST",
      { status: 202, body: '{"job":1}', headers: { "content-type": "application/json", "retry-after": "5" } },
      { job: 1, headers: { "retry-after": "5" } },
    ],
  ])("%s", async (_what, method, answer, expected) => {
    expect(await ask(method, answer)).toEqual(expected);
  });

  test("are bounded", async () => {
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`x-total-${index}`, "9".repeat(300)]));
    const { headers } = (await ask("GET", typed("{}", "application/json", many))) as { headers: object };
    expect(Object.keys(headers)).toHaveLength(12);
    expect(JSON.stringify(headers).length).toBeLessThan(5_000);
  });
});

describe("texts", () => {
  const utf16 = Buffer.from('{"a":"é"}', "utf16le");
  const big = Buffer.from(utf16).swap16();
  test.each<[string, MockAnswer, unknown]>([
    ["Latin-1", typed(Buffer.from("caf\u00e9", "latin1"), "text/plain; charset=iso-8859-1"), { text: "caf\u00e9" }],
    ["in quotes", typed(Buffer.from("caf\u00e9", "latin1"), 'text/plain; charset="ISO-8859-1"'), { text: "caf\u00e9" }],
    [
      "Japanese",
      typed(Buffer.from([0x93, 0xfa, 0x96, 0x7b]), "text/plain;charset=Shift_JIS"),
      { text: "\u65e5\u672c" },
    ],
    ["UTF-16", typed(utf16, "application/json; charset=utf-16le"), { a: "\u00e9" }],
    [
      "UTF-16 by its mark",
      typed(Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]), "application/json"),
      { a: "\u00e9" },
    ],
    [
      "UTF-16, big end first",
      typed(Buffer.concat([Buffer.from([0xfe, 0xff]), big]), "application/json"),
      { a: "\u00e9" },
    ],
    ["JSON that begins with a mark", typed('\ufeff{"a":1}', "application/json"), { a: 1 }],
    ["a charset that nobody knows", typed("caf\u00e9", "text/plain; charset=klingon"), { text: "caf\u00e9" }],
    ["lines of JSON", typed('{"a":1}\n{"a":2}', "application/x-ndjson"), { text: '{"a":1}\n{"a":2}' }],
    ["YAML", typed("a: 1", "application/yaml"), { text: "a: 1" }],
    ["JSON that is called text", typed('{"a":1}', "text/json"), { a: 1 }],
    ["SVG", typed("<svg/>", "image/svg+xml"), { text: "<svg/>" }],
  ])("%s", async (_what, answer, expected) => {
    expect(await ask("GET", answer)).toEqual(expected);
  });

  test("JSON that begins with a mark is read after a write, too", async () => {
    expect(await ask("POST", typed('\ufeff{"a":1}', "application/json"))).toEqual({ a: 1 });
  });

  test("a document of an office is no text", async () => {
    const type = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
    await expect(ask("GET", typed("PK", type))).rejects.toThrow("is a file");
  });
});

describe("303", () => {
  test("is followed by a read", async () => {
    expect(
      await ask("GET", { status: 303, headers: { location: "/v1/b" } }, typed('{"a":1}', "application/json")),
    ).toEqual({
      a: 1,
    });
    expect(api.seen.map(({ path }) => path)).toEqual(["/v1/a", "/v1/b"]);
  });

  test("is the end of a write, which is done", async () => {
    expect(await ask("POST", { status: 303, headers: { location: "/v1/b" } })).toEqual({
      status: 303,
      headers: { location: "/v1/b" },
    });
    expect(api.seen).toHaveLength(1);
  });
});

describe("errors reach the model", () => {
  const json = (body: unknown, status: number, type = "application/json") => ({
    status,
    body: JSON.stringify(body),
    headers: { "content-type": type },
  });
  test.each<[string, MockAnswer, string, string[] | undefined]>([
    [
      "FastAPI",
      json({ detail: [{ loc: ["body", "x"], msg: "field required", type: "missing" }] }, 422),
      "Echo answered 422: body.x: field required",
      ["body.x: field required"],
    ],
    [
      "lists of errors",
      json(
        {
          errors: [
            { field: "name", message: "is too long" },
            { field: "age", message: "is no number" },
          ],
        },
        400,
      ),
      "Echo answered 400: name: is too long",
      ["name: is too long", "age: is no number"],
    ],
    [
      "RFC 9457",
      json(
        {
          type: "about:blank",
          title: "Invalid",
          detail: "Two are wrong",
          errors: [{ pointer: "#/a", detail: "must be 1" }],
        },
        422,
        "application/problem+json",
      ),
      "Echo answered 422: Two are wrong",
      ["#/a: must be 1"],
    ],
    [
      "JSON:API",
      json({ errors: [{ title: "Invalid", detail: "must be there", source: { pointer: "/data/title" } }] }, 422),
      "Echo answered 422: /data/title: must be there",
      ["/data/title: must be there"],
    ],
    [
      "Google",
      json(
        {
          error: {
            code: 400,
            message: "Bad request",
            details: [{ "@type": "x", fieldViolations: [{ field: "size", description: "must be positive" }] }],
          },
        },
        400,
      ),
      "Echo answered 400: Bad request",
      ["size: must be positive"],
    ],
    [
      "fields with their texts",
      json({ title: "One or more", errors: { Name: ["is required.", "is short."] } }, 400),
      "Echo answered 400: One or more",
      ["Name: is required. is short."],
    ],
    ["fields alone", json({ email: ["is taken"] }, 400), "Echo answered 400: email: is taken", ["email: is taken"]],
    [
      "a list at the top",
      json([{ message: "No such column", errorCode: "E1", fields: ["x", "y"] }], 400),
      "Echo answered 400: x.y: No such column",
      ["x.y: No such column"],
    ],
    [
      "a stack behind it",
      json(
        { message: "It broke\n    at run (/srv/app.js:1:2)\n    at go", errors: [{ stack: "at /srv", why: "v" }] },
        400,
      ),
      "Echo answered 400: It broke",
      ["v"],
    ],
    [
      "a stack of Python",
      { status: 400, body: 'Traceback (most recent call last):\n  File "/srv/a.py", line 1\nValueError: no x\n' },
      "Echo answered 400: ValueError: no x",
      undefined,
    ],
    [
      "a page",
      { status: 404, body: "<!DOCTYPE html><p>nothing", headers: { "content-type": "text/html" } },
      "Echo answered 404.",
      undefined,
    ],
    ["a page within JSON", json({ message: "<html><body>no" }, 400), "Echo answered 400.", undefined],
    [
      "XML",
      { status: 400, body: "<Error><Code>X</Code><Message>No such key</Message></Error>" },
      "Echo answered 400: No such key",
      undefined,
    ],
  ])("%s", async (_what, answer, message, details) => {
    const error = await ask("GET", answer).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ServiceError);
    if (!(error instanceof ServiceError)) return;
    expect(error.message).toBe(message);
    expect(error.options.details).toEqual(details);
  });
});
