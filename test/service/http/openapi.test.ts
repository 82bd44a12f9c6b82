import { Validator } from "@cfworker/json-schema";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { allOperations, buildDocument } from "../../../src/service/http/openapi/build-document.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { verifies } from "../../contract/verifies.ts";
import { call } from "../http-calls.ts";
import { listRoutes } from "./kit/list-routes.ts";

let service: TestService;
// biome-ignore lint/suspicious/noExplicitAny: an OpenAPI document, looked into by its tests
let document: any;

beforeAll(async () => {
  service = await startTestService();
  document = (await call(`${service.url}/openapi.json`)).json;
});
afterAll(() => service.close());

/** Pages, and the endpoints that the OAuth library answers by its own standard. */
const UNDESCRIBED = /^\/(?:$|(?!api\/|health|metrics|openapi|\.well-known\/))|^\/oauth\//;

describe("the OpenAPI document", () => {
  test("is 3.1, carries the interface version, and needs no key", async () => {
    verifies("versioning.interface-version");
    const reply = await call(`${service.url}/openapi.json`);
    expect([reply.status, reply.headers["content-type"]]).toEqual([200, "application/json"]);
    expect(document).toMatchObject({
      openapi: "3.1.0",
      info: { version: "1.0.0" },
      servers: [{ url: service.url }],
    });
  });

  test("describes every route but pages, and no others", () => {
    const served = listRoutes()
      .filter(({ method, path }) => (method === "GET" || method === "POST") && !UNDESCRIBED.test(path))
      .map(({ method, path }) => `${method} ${path.replaceAll(/:([^/]+)/g, "{}")}`);
    const described = allOperations.map(
      ({ method, path }) => `${method.toUpperCase()} ${path.replaceAll(/\{[^}]+\}/g, "{}")}`,
    );
    expect(described.length).toBeGreaterThan(25);
    expect([...new Set(described)].sort()).toEqual([...new Set(served)].sort());
    expect(new Set(described).size).toBe(described.length);
  });

  test("has no dangling reference, and only schemas that a validator takes", () => {
    const found: string[] = [];
    const walk = (node: unknown): void => {
      if (typeof node !== "object" || node === null) return;
      for (const [key, value] of Object.entries(node)) {
        if (key === "$ref") found.push(String(value));
        else walk(value);
      }
    };
    walk(document);
    const known = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
    expect(found.length).toBeGreaterThan(30);
    expect(found.filter((reference) => !known.includes(reference))).toEqual([]);
    for (const name of Object.keys(document.components.schemas)) {
      const schema = { ...document, $ref: `#/components/schemas/${name}` };
      expect(new Validator(schema, "2020-12").validate(7).valid, name).toBe(false);
    }
  });

  test("gives every operation an id of its own, a summary, an answer and its way in", () => {
    const operations = Object.entries<Record<string, Record<string, unknown>>>(document.paths).flatMap(
      ([path, methods]) => Object.values(methods).map((operation) => ({ path, ...operation })),
    );
    const ids = operations.map((operation) => "operationId" in operation && operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const operation of operations as { path: string; [member: string]: unknown }[]) {
      expect(operation.summary, operation.path).toMatch(/\.$/);
      expect(
        Object.keys(operation.responses ?? {}).some((status) => status.startsWith("2")),
        operation.path,
      ).toBe(true);
      const inPath = [...operation.path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1]);
      const parameters = (operation.parameters ?? []) as { in: string; name: string; required: boolean }[];
      expect(parameters.filter((one) => one.in === "path").map((one) => one.name)).toEqual(inPath);
      expect(parameters.every((one) => one.in !== "path" || one.required)).toBe(true);
    }
  });

  test("names the key headers, the upload token and OAuth", () => {
    const { securitySchemes } = document.components;
    expect(securitySchemes.apiKey).toMatchObject({ type: "apiKey", in: "header", name: "x-svc-api-key" });
    expect(Object.keys(securitySchemes).sort()).toEqual(["apiKey", "bearerKey", "oauth", "uploadToken"]);
    expect(document.paths["/api/tools"].get.security).toEqual([{ apiKey: [] }, { bearerKey: [] }]);
    expect(document.paths["/api/mcp"].post.security).toContainEqual({ oauth: ["openid"] });
    expect(document.paths["/health"].get.security).toEqual([]);
  });
});

test("schemas that catch and transform are described by what may be sent", () => {
  const inner = z.object({
    id: z.union([z.int(), z.string()]).transform(String),
    note: z.string().nullish().catch(null),
  });
  const answer = { description: "ok", body: inner };
  const operation = {
    method: "get",
    path: "/a",
    summary: "A.",
    tag: "T",
    access: "anybody",
    answers: { 200: answer },
  } as const;
  const built = buildDocument([operation], { baseUrl: "http://x", shapes: { Inner: inner } });
  expect(built).toMatchObject({
    paths: {
      "/a": {
        get: {
          responses: { 200: { content: { "application/json": { schema: { $ref: "#/components/schemas/Inner" } } } } },
        },
      },
    },
    components: {
      schemas: {
        Inner: {
          type: "object",
          required: ["id"],
          properties: { note: { type: ["string", "null"] } },
        },
      },
    },
  });
  expect(JSON.stringify(built)).not.toContain('"default"');
});
