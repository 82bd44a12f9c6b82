import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { createLab } from "../lab-integration.ts";
import { type Refused, SENDERS, type Sender } from "./kit/body-senders.ts";

/** How often each sender tries each refusal. */
const TRIES = 3;
const MIB = 1024 * 1024;

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ integrations: [createLab().integration] });
});
afterAll(() => service.close());

const ROUTES = {
  execute: { path: "/api/tools/lab_look/execute", tooLarge: [413, 150 * MIB] },
  executions: { path: "/api/executions", tooLarge: [400, 9 * MIB] },
  MCP: { path: "/api/mcp", tooLarge: [413, 9 * MIB] },
  flows: { path: "/api/flows/start", tooLarge: [413, 2 * MIB] },
  // Without an announced length the token is looked at first.
  ingest: { path: "/api/files/ingest", tooLarge: ["413 or 401", 26 * MIB] },
} as const;

type Route = (typeof ROUTES)[keyof typeof ROUTES];

/** The refusals of one route, each with the status it must bring. */
function refusals({ path, tooLarge: [status, size] }: Route): [string, number | string, Refused][] {
  const url = `${service.url}${path}`;
  const headers = { "content-type": "application/octet-stream" };
  const key = { "x-svc-api-key": service.apiKey };
  const mib = { method: "POST", headers, size: 3 * MIB };
  return [
    ["too large", status, { ...mib, url, size, headers: { ...headers, ...key } }],
    ["without a key", 401, { ...mib, url }],
    ["with a wrong key", 401, { ...mib, url, headers: { ...headers, "x-svc-api-key": "svc_live_wrong" } }],
    ["at an unknown path", 404, { ...mib, url: `${url}/there/is/nothing`, headers: { ...headers, ...key } }],
    ["with a wrong method", 405, { ...mib, url, method: "PUT", headers: { ...headers, ...key } }],
  ];
}

async function findBroken(send: Sender, tried: readonly [string, number | string, Refused][]): Promise<string[]> {
  const broken: string[] = [];
  for (const [kind, status, refused] of tried) {
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      try {
        const answered = await send(refused);
        if (!String(status).includes(String(answered.status))) broken.push(`${kind}: ${answered.status}`);
        else if (!answered.text.includes("error")) broken.push(`${kind}: ${answered.text}`);
      } catch (error) {
        broken.push(`${kind}: ${String((error as Error).cause ?? error)}`);
      }
    }
  }
  return broken;
}

describe.each(Object.entries(ROUTES))("a body that is refused by %s", (_name, route) => {
  test.each(Object.entries(SENDERS))("brings its answer: %s", async (_sender, send) => {
    expect(await findBroken(send, refusals(route))).toEqual([]);
  });

  test("brings its answer also when it is long and its sender reads last", async () => {
    const long: Refused = { url: `${service.url}${route.path}`, method: "POST", headers: {}, size: 90 * MIB };
    const send = SENDERS["a socket that reads last, with a length"] as Sender;
    expect(await findBroken(send, [["without a key", "401 or 413", long]])).toEqual([]);
  });
});
