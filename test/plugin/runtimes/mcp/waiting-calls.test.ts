import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { decideHeld } from "../../../service/approvals/owner.ts";
import { call } from "../../../service/http-calls.ts";
import { createLab, type Lab } from "../../../service/lab-integration.ts";
import { CLIENTS, connectHere, makeHome, svcMcp, type TestClient } from "./mcp-client.ts";

/** Calls that wait for a human, and clients that leave meanwhile. */

let lab: Lab;
let service: TestService;
let place: Awaited<ReturnType<typeof makeHome>>;
let dataDir: string;
const clients: TestClient[] = [];

async function start(approvals: "owner" | "device", port = 0) {
  service = await startTestService({ approvals, dataDir, port, integrations: [lab.integration] });
  const connections = await service.service.connections.list("lab");
  if (connections.length === 0)
    await service.service.connections.add({ integration: "lab", label: "First", settings: {} });
}
beforeEach(async () => {
  lab = createLab();
  place = await makeHome();
  dataDir = await mkdtemp(join(tmpdir(), "svc-mcp-data-"));
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  await service.close();
  await place.remove();
  await rm(dataDir, { recursive: true, force: true });
});

async function connect(options: Parameters<typeof connectHere>[2] = {}): Promise<TestClient> {
  const client = await connectHere(place.home, service, options);
  clients.push(client);
  return client;
}

async function listHeld(): Promise<{ id: string; status: string }[]> {
  const reply = await call(`${service.url}/api/approvals`, { key: service.apiKey });
  return reply.json.approvals;
}

const put = ["svc_call_tool", { name: "lab_put", arguments: { title: "Milk" } }] as const;
const yes = () => ({ action: "accept" as const, content: { approve: true } });

test("where nobody can be asked, nothing runs, and the refusal names both ways out", async () => {
  await start("device");
  const client = await connect();
  const bold = { name: "lab_put", arguments: { title: "Milk", confirmed: true, confirm: true }, confirmed: true };
  for (const args of [bold, { ...bold, confirm: true, arguments: { title: "Milk" } }]) {
    const refused = await client.call("svc_call_tool", args);
    expect(refused).toMatchObject({ isError: true });
    expect(refused.status).not.toBe("succeeded");
  }
  const refused = await client.call(...put);
  expect(refused).toMatchObject({ status: "needs_approval", code: "approval_required" });
  expect(refused.hint).toMatch(/--approvals owner.*devices page.*elicitation/s);
  expect(lab.ran).toEqual([]);
});

test("the inbox is asked, and no form, also when it has become responsible since the tool was described", async () => {
  await start("device");
  const client = await connect({ human: yes });
  await client.call("svc_describe_tool", { name: "lab_put" });
  const port = Number(new URL(service.url).port);
  const { apiKey } = service;
  await service.close();
  await start("owner", port);
  service = { ...service, apiKey };
  const made = client.call(...put);
  await expect.poll(async () => (await listHeld()).length).toBe(1);
  const [held] = await listHeld();
  await decideHeld(service, held?.id ?? "", "approve");
  expect(await made).toMatchObject({ status: "succeeded", result: { stored: "Milk" } });
  expect(client.shown).toEqual([]);
  expect(lab.ran).toEqual(["put"]);
});

test.each([
  [CLIENTS[0], "accept"],
  [CLIENTS[0], "decline"],
  [CLIENTS[1], "accept"],
  [CLIENTS[2], "accept"],
] as const)("client %s is shown the link to the inbox; %s decides nothing", async (kind, action) => {
  await start("owner");
  const client = await connect({ kind, human: () => ({ action }), canOpenLinks: true });
  const made = client.call(...put);
  await expect.poll(() => client.shown.length).toBe(1);
  expect(client.shown[0]?.url).toMatch(new RegExp(`^${service.url}/inbox/apr_`));
  expect(lab.ran).toEqual([]);
  await decideHeld(service, client.shown[0]?.url?.split("/").at(-1) ?? "", "approve");
  expect(await made).toMatchObject({ status: "succeeded" });
});

test("a call that waited too long says so with its link; made again it goes on, and gets the one result", async () => {
  await start("owner");
  const client = await connect({ waitMs: 1_000 });
  const waiting = await client.call(...put);
  expect(waiting).toMatchObject({ isError: true, status: "needs_approval", code: "awaiting_owner" });
  const [held] = await listHeld();
  expect(waiting.message).toContain(`${service.url}/inbox/${held?.id}`);
  expect(await client.call(...put)).toMatchObject({ code: "awaiting_owner", message: waiting.message });
  await decideHeld(service, held?.id ?? "", "approve");
  expect(await client.call(...put)).toMatchObject({ status: "succeeded", result: { stored: "Milk" } });
  expect(lab.ran).toEqual(["put"]);
  expect(await client.call(...put)).toMatchObject({ code: "awaiting_owner" });
});

test("a client that leaves keeps its request: the next start gets the result", async () => {
  await start("owner");
  const first = await connect();
  const made = first.call(...put).catch(() => undefined);
  await expect.poll(async () => (await listHeld()).length).toBe(1);
  await first.close();
  await made;
  const [held] = await listHeld();
  expect(held?.status).toBe("pending");
  await decideHeld(service, held?.id ?? "", "approve");
  const second = await connect();
  expect(await second.call(...put)).toMatchObject({ status: "succeeded", result: { stored: "Milk" } });
  expect(lab.ran).toEqual(["put"]);
});

test("a call that the client cancels is withdrawn", async () => {
  await start("owner");
  const client = await connect();
  const stop = new AbortController();
  const made = client.call(...put, { signal: stop.signal }).catch(() => "cancelled");
  await expect.poll(async () => (await listHeld()).length).toBe(1);
  const [held] = await listHeld();
  stop.abort();
  expect(await made).toBe("cancelled");
  await expect.poll(async () => (await listHeld())[0]?.status, { timeout: 10_000 }).toBe("cancelled");
  await decideHeld(service, held?.id ?? "", "approve");
  expect(lab.ran).toEqual([]);
});

test("stdout carries the protocol alone, an answer belongs to its question, and the end of the input ends it", async () => {
  await start("device");
  const { command, args, env } = svcMcp(place.home, service);
  const child = spawn(command, args, { env });
  const lines: Record<string, unknown>[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(JSON.parse(line)));
  let log = "";
  child.stderr.on("data", (part) => {
    log += part;
  });
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
  };
  const send = async (id: number, more: object = {}) => {
    const params = { name: put[0], arguments: put[1], _meta: meta, ...more };
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params })}\n`);
    await expect.poll(() => lines.find((line) => line.id === id), { timeout: 30_000 }).toBeDefined();
    return lines.find((line) => line.id === id) as { result?: Record<string, unknown>; error?: object };
  };
  const asked = await send(1);
  expect(asked.result).toMatchObject({ resultType: "input_required" });
  const { requestState, inputRequests = {} } = asked.result ?? {};
  const [key = ""] = Object.keys(inputRequests as object);
  const inputResponses = { [key]: { action: "accept", content: { approve: true } } };
  // Without its state, with another one, or for other arguments an answer approves nothing.
  expect((await send(2, { inputResponses })).result).toMatchObject({ resultType: "input_required" });
  expect((await send(3, { inputResponses, requestState: "guessed" })).error).toBeDefined();
  const other = { name: "lab_put", arguments: { title: "Butter" } };
  expect((await send(4, { inputResponses, requestState, arguments: other })).error).toBeDefined();
  expect(lab.ran).toEqual([]);
  expect((await send(5, { inputResponses, requestState })).result).toMatchObject({ isError: false });
  expect(lab.ran).toEqual(["put"]);
  expect((await send(6, { inputResponses, requestState })).error).toBeDefined();
  child.stdin.end();
  expect(await once(child, "close")).toEqual([0, null]);
  expect(log).toContain("svc: lab_put: succeeded");
  expect(log).not.toContain(service.apiKey);
});

test("several accounts: the human chooses in a form", async () => {
  await start("device");
  const [first] = await service.service.connections.list("lab");
  await service.service.connections.add({ integration: "lab", label: "Second", settings: {} });
  await service.service.connections.update(first?.id ?? "", { isDefault: false });
  expect(await service.service.connections.list("lab")).toHaveLength(2);
  const answers: ((message: string) => Record<string, string | boolean>)[] = [
    () => ({ account: first?.id ?? "" }),
    () => ({ approve: true }),
  ];
  const client = await connect({
    human: ({ message }) => ({ action: "accept", content: answers.shift()?.(message) ?? {} }),
  });
  expect(await client.call(...put)).toMatchObject({ status: "succeeded" });
  expect(client.shown[0]?.message).toMatch(/Which lab account/);
  expect(client.shown[1]?.message).toContain("First");
});

test("the list in its default form is at most 1,500 tokens, and given tools are listed from the start", async () => {
  await start("device");
  const client = await connect({ tools: ["lab_put", "lab_look", "lab_unknown"] });
  const names = (await client.listTools()).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["lab_put", "lab_look", "svc_search_tools"]));
  expect(names).not.toContain("lab_unknown");
  const plain = await connect();
  expect(JSON.stringify(await plain.listTools()).length / 4).toBeLessThanOrEqual(1_500);
});
