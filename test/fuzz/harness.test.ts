import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readDocument } from "./document.ts";
import { createSender } from "./send.ts";

const DOCUMENT = {
  openapi: "3.1.0",
  paths: {
    "/things/{id}": {
      get: {
        operationId: "getThing",
        security: [],
        parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }],
        responses: { 200: { content: { "application/json": { schema: { $ref: "#/components/schemas/Thing" } } } } },
      },
    },
  },
  components: { schemas: { Thing: { type: "object", properties: { id: { type: "string" } }, required: ["id"] } } },
};

const ANSWERS: Readonly<Record<string, { status: number; type?: string; body: string }>> = {
  good: { status: 200, body: '{"id":"a"}' },
  teapot: { status: 418, body: "{}" },
  crash: { status: 500, body: '{"id":"a"}' },
  empty: { status: 200, body: "{}" },
  page: { status: 200, type: "text/html", body: "<p>" },
  stack: { status: 200, body: '{"id":"Error\\n at run (/a/b.ts:1:2)"}' },
  secret: { status: 200, body: '{"id":"/srv/data"}' },
};

const server = createServer((request, response) => {
  const answer = ANSWERS[request.url?.split("/").at(-1) ?? ""];
  response.writeHead(answer?.status ?? 200, { "content-type": answer?.type ?? "application/json" });
  response.end(answer?.body ?? JSON.stringify(DOCUMENT));
});
let url: string;

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

test.each([
  ["good", []],
  ["teapot", ["undocumented status 418"]],
  ["crash", ["undocumented status 500"]],
  ["empty", ["id"]],
  ["page", ["content type text/html"]],
  ["stack", ["tells about its inside"]],
  ["secret", ["tells /srv/data"]],
])("the harness judges the answer %s", async (id, expected) => {
  const [operation] = (await readDocument(url)).operations;
  if (operation === undefined) throw new Error("The document has no operation.");
  const sender = createSender(url, ["/srv/data"]);
  const { problems } = await sender.judge(operation, {
    method: "GET",
    path: `/things/${id}`,
    headers: {},
    body: undefined,
  });
  await sender.close();
  if (expected.length === 0) expect(problems).toEqual([]);
  for (const part of expected) expect(problems.join("\n")).toContain(part);
});
