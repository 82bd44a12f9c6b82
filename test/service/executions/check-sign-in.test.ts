import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { z } from "zod";
import { createProviderError } from "../../../src/apps/port/provider-failure.ts";
import { defineAction, type Integration, ServiceError } from "../../../src/service.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";

/** An app whose system may refuse single operations, or everybody. */

const READ = { level: "read", requiresConfirmation: false, idempotent: true, scopes: [] } as const;

let service: TestService;
let refuses: (path: string) => boolean;
let held: ServerResponse[];
let asked: string[];
let tries: (() => Promise<void>) | undefined;
let url: string;
let stop: () => Promise<void>;

beforeEach(async () => {
  refuses = () => false;
  held = [];
  asked = [];
  tries = undefined;
  const server = createServer(({ url: path = "" }, response) => {
    asked.push(path);
    if (path.endsWith("?hold")) return void held.push(response);
    response.writeHead(refuses(path) ? 401 : 200).end("{}");
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  stop = () => new Promise((done) => server.close(() => done()));
});

afterEach(async () => {
  await service?.close();
  await stop();
});

async function start(o: { hasTest?: true } = {}): Promise<string> {
  const read = (id: string) =>
    defineAction({
      ...READ,
      id,
      title: id,
      description: id,
      arguments: z.strictObject({ board: z.string() }),
      run: async ({ board }, { signal }) => {
        const answer = await fetch(`${url}/${id}/${board}`, { signal });
        if (!answer.ok)
          throw createProviderError({ kind: "status", status: answer.status }, { app: "Boards", action: READ });
        return answer.json();
      },
    });
  const boards: Integration = {
    slug: "boards",
    name: "Boards",
    description: "Boards.",
    category: "productivity",
    scopes: [],
    actions: [read("cards"), read("members"), read("labels")],
    checkSettings: async () => {},
    ...(o.hasTest && { testSettings: async () => tries?.() }),
  };
  service = await startTestService({ integrations: [boards] });
  const { id } = await service.service.connections.add({
    integration: "boards",
    label: "Boards",
    settings: { key: "k" },
  });
  return id;
}

async function read(tool: string, board = "1"): Promise<string> {
  const response = await fetch(`${service.url}/api/tools/boards_${tool}/execute`, {
    method: "POST",
    headers: { "x-svc-api-key": service.apiKey, "content-type": "application/json" },
    body: JSON.stringify({ arguments: { board } }),
  });
  const body = (await response.json()) as { error?: { code: string } };
  return `${response.status} ${body.error?.code ?? "ok"}`;
}

const readState = async () => (await service.service.connections.list("boards"))[0]?.state;

test("one operation that is always refused takes no other one away", async () => {
  await start();
  refuses = (path) => path.startsWith("/members");
  expect(await read("cards")).toBe("200 ok");
  for (let time = 0; time < 3; time += 1) expect(await read("members")).toBe("403 forbidden");
  expect(await read("cards")).toBe("200 ok");
  expect(await readState()).toBe("healthy");
  // Checked once, not with each refusal.
  expect(asked.filter((path) => path === "/cards/1")).toHaveLength(3);
});

test("neither do refused arguments of an operation that works with others", async () => {
  await start();
  refuses = (path) => path === "/cards/foreign";
  expect(await read("cards")).toBe("200 ok");
  expect([await read("cards", "foreign"), await readState()]).toEqual(["403 forbidden", "healthy"]);
});

test("a key that was revoked asks for a new sign-in at the first refusal, whichever call meets it", async () => {
  await start();
  expect(await read("cards")).toBe("200 ok");
  refuses = () => true;
  expect([await read("members"), await readState()]).toEqual(["401 needs_reauth", "reauth_required"]);
});

test("so does the one read that worked before, and a key that never worked", async () => {
  await start();
  refuses = () => true;
  expect([await read("cards"), await readState()]).toEqual(["401 needs_reauth", "reauth_required"]);
  const [connection] = await service.service.connections.list("boards");
  refuses = () => false;
  await service.service.connections.update(connection?.id ?? "", { state: "healthy" });
  expect(await read("cards")).toBe("200 ok");
  refuses = () => true;
  expect([await read("cards"), await readState()]).toEqual(["401 needs_reauth", "reauth_required"]);
});

test("a call that succeeds after all takes it back", async () => {
  await start();
  const slow = read("cards", "1?hold");
  await vi.waitFor(() => expect(held).toHaveLength(1));
  refuses = () => true;
  expect([await read("members"), await readState()]).toEqual(["401 needs_reauth", "reauth_required"]);
  held[0]?.writeHead(200).end("{}");
  expect([await slow, await readState()]).toEqual(["200 ok", "healthy"]);
});

test("an app with a check of its own is asked by that", async () => {
  await start({ hasTest: true });
  refuses = () => true;
  expect([await read("members"), await readState()]).toEqual(["403 forbidden", "healthy"]);
  tries = () => Promise.reject(new ServiceError(422, "integration_misconfigured", "The password is wrong."));
  await service.service.connections.update((await service.service.connections.list("boards"))[0]?.id ?? "", {
    settings: { key: "changed" },
  });
  expect([await read("members"), await readState()]).toEqual(["401 needs_reauth", "reauth_required"]);
});
