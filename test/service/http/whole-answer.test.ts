import { Hono } from "hono";
import { request } from "undici";
import { afterEach, expect, test } from "vitest";
import { listen } from "../../../src/service/http/listen.ts";
import { sendJson } from "../../../src/service/http/whole-answer.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0)) await clean();
});

const VALUE = { text: "Grüße – 你好" };

async function serve() {
  const app = new Hono();
  app.get("/value", () => {
    const answer = sendJson(VALUE, 201, { "x-one": "1" });
    answer.headers.set("x-two", "2");
    return answer;
  });
  app.get("/text", () => sendJson(JSON.stringify(VALUE)));
  app.get("/kept", () => sendJson({}, 200, { "cache-control": "public" }));
  const listener = await listen({ fetch: app.fetch, host: "127.0.0.1", port: 0 });
  cleanups.push(() => listener.close(0));
  return `http://127.0.0.1:${listener.port}`;
}

test("a value is sent with its length in bytes, its status and all its headers", async () => {
  const url = await serve();
  const { statusCode, headers, body } = await request(`${url}/value`);
  expect(statusCode).toBe(201);
  expect(headers).toMatchObject({
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(JSON.stringify(VALUE))),
    "x-one": "1",
    "x-two": "2",
  });
  expect(headers["transfer-encoding"]).toBeUndefined();
  expect(await body.json()).toEqual(VALUE);
});

test("an answer is of this moment and no page, unless it says otherwise", async () => {
  const url = await serve();
  const { headers, body } = await request(`${url}/text`);
  expect(headers).toMatchObject({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
  await body.dump();
  const other = await request(`${url}/kept`);
  expect(other.headers).toMatchObject({ "cache-control": "public", "x-content-type-options": "nosniff" });
  await other.body.dump();
});

test("the text of a value is sent as it is", async () => {
  const url = await serve();
  const { statusCode, body } = await request(`${url}/text`);
  expect(statusCode).toBe(200);
  expect(await body.json()).toEqual(VALUE);
});

test("HEAD has status and headers, and no body", async () => {
  const url = await serve();
  const { statusCode, headers, body } = await request(`${url}/value`, { method: "HEAD" });
  expect(statusCode).toBe(201);
  expect(headers).toMatchObject({ "content-type": "application/json", "x-one": "1", "x-two": "2" });
  expect(await body.text()).toBe("");
});
