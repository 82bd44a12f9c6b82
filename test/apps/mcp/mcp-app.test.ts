import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { McpDefinition } from "../../../src/apps/mcp/connect-mcp.ts";
import { prepareMcp } from "../../../src/apps/mcp/read-mcp-tools.ts";
import { openSourceAdmin, type SourceAdmin } from "../../../src/service/added/open-source-admin.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { findUsable } from "../../service/added/find-usable.ts";

let service: TestService;
let admin: SourceAdmin;
let folder: string;
let definition: McpDefinition;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-mcp-"));
  service = await startTestService();
  admin = await openSourceAdmin({ dataDir: service.dataDir });
  const script = fileURLToPath(new URL("fixture-server.ts", import.meta.url));
  definition = {
    transport: "stdio",
    command: process.execPath,
    args: [script, folder],
    env: ["SHELF_TOKEN"],
    trusted: true,
  };
  await add("shelf", definition);
}, 60_000);

afterAll(async () => {
  await admin?.close();
  await service?.close();
  await rm(folder, { recursive: true, force: true });
});

async function add(slug: string, how: McpDefinition) {
  const settings = { SHELF_TOKEN: "token-of-the-shelf" };
  const place = { slug, name: undefined, definition: how };
  const prepared = await prepareMcp(place, settings, AbortSignal.timeout(30_000));
  await admin.add(prepared.source, { connection: { label: "Shelf", settings } });
  await vi.waitFor(async () => expect(await listTools(slug)).not.toEqual([]), { timeout: 30_000, interval: 200 });
  return prepared;
}

async function ask(path: string, body?: unknown): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(service.url + path, {
    headers: { "x-svc-api-key": service.apiKey, "content-type": "application/json" },
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const call = (tool: string, args: object = {}, confirmed = false) =>
  ask(`/api/tools/${encodeURIComponent(tool)}/execute`, { arguments: args, confirmed });

async function listTools(slug: string): Promise<string[]> {
  const { body } = await ask(`/api/tools?integration=${slug}`);
  return (body.tools as { name: string }[]).map(({ name }) => name);
}

async function describe(tool: string): Promise<Record<string, unknown>> {
  return (await ask(`/api/tools/${tool}`)).body.tool as Record<string, unknown>;
}

const readState = async () => (await service.service.connections.list("shelf"))[0]?.state;
const readNotes = () => readFile(join(folder, "notes.txt"), "utf8").catch(() => "");

test("no model is asked for a secret: an argument that holds one is taken out, a tool that needs it left out", async () => {
  const place = { slug: "shelf", name: undefined, definition };
  const { notes } = await prepareMcp(place, { SHELF_TOKEN: "token-of-the-shelf" }, AbortSignal.timeout(30_000));
  expect(notes).toEqual(
    expect.arrayContaining([
      '"fail" does without its argument "api_key": it holds a secret, and no model is given one.',
      '"login" was left out: it needs a secret as its argument "password", and no model is given one.',
    ]),
  );
  expect(await listTools("shelf")).not.toContain("shelf_login");
  const { status, body } = await call("shelf_fail", { api_key: "key-that-a-model-holds" });
  expect([status, body.error]).toEqual([400, expect.objectContaining({ code: "invalid_arguments" })]);
});

test("tools become actions: schemas as the server wrote them, levels by its annotations", async () => {
  const tools = await listTools("shelf");
  expect(tools).toHaveLength(8);
  expect(tools).toContain("shelf_note");
  const note = await describe("shelf_note");
  expect(JSON.stringify(note.inputSchema)).toBe(
    '{"required":["text"],"properties":{"text":{"minLength":1,"description":"What to note.","type":"string"}},"additionalProperties":false,"type":"object"}',
  );
  const levels = await Promise.all(
    ["look", "note", "wipe", "die"].map(async (id) => (await describe(`shelf_${id}`)).canonical),
  );
  expect(
    levels.map((canonical) => (canonical as { action: { side_effect_level: string } }).action?.side_effect_level),
  ).toEqual(["read", "write", "delete", "write"]);
});

test("a read runs at once; a write is confirmed first and then acts once", async () => {
  expect((await call("shelf_look")).body).toMatchObject({ ok: true, result: { pid: expect.any(Number) } });
  expect(await call("shelf_note", { text: "one" })).toMatchObject({ status: 412 });
  expect(await call("shelf_note", { text: 7 }, true)).toMatchObject({ status: 400 });
  expect(await readNotes()).toBe("");
  expect((await call("shelf_note", { text: "one" }, true)).body).toMatchObject({
    ok: true,
    result: { structured: { noted: "one" }, content: [{ type: "text", text: "noted" }] },
  });
  expect(await readNotes()).toBe("one\n");
});

test("pictures become files; failures keep the server's words; refused arguments are a 400", async () => {
  const [picture] = (await listTools("shelf")).filter((name) => name.startsWith("shelf_picture"));
  expect((await call(picture ?? "")).body).toMatchObject({
    ok: true,
    result: {
      content: [
        { type: "text", text: "Here:" },
        { type: "image", mimetype: "image/png", name: "image.png", size: 68, s3key: expect.any(String) },
      ],
    },
  });
  expect(await call("shelf_fail")).toMatchObject({
    status: 500,
    body: { error: { code: "execution_failed", message: "No such shelf." }, details: ["Try another one."] },
  });
  expect(await call("shelf_refuse")).toMatchObject({ status: 400, body: { error: { code: "invalid_arguments" } } });
});

test("the server sees a few harmless variables and the one it was given", async () => {
  process.env.SVC_TEST_SECRET_OF_THE_SERVICE = "1";
  try {
    const { body } = await call("shelf_surroundings");
    const names = body.result as string[];
    expect(names).toContain("SHELF_TOKEN");
    expect(names).not.toContain("SVC_TEST_SECRET_OF_THE_SERVICE");
  } finally {
    delete process.env.SVC_TEST_SECRET_OF_THE_SERVICE;
  }
});

test("a killed server is started again by the next call", async () => {
  const first = (await call("shelf_look")).body.result as { pid: number };
  process.kill(first.pid, "SIGKILL");
  await expect.poll(() => isRunning(first.pid), { timeout: 30_000 }).toBe(false);
  const second = (await call("shelf_look")).body.result as { pid: number };
  expect(second.pid).not.toBe(first.pid);
  expect(await readState()).toBe("healthy");
});

test("a server that dies in a write leaves doubt, and nothing is sent again", async () => {
  const before = await readNotes();
  const answer = await call("shelf_die", {}, true);
  expect(answer).toMatchObject({
    status: 500,
    body: { ok: false, error: { code: "outcome_unknown", retryable: false } },
  });
  expect((answer.body.canonical as Record<string, unknown>).outcome_unknown).toBe(true);
  expect((await readNotes()).slice(before.length)).toBe("died\n");
});

test("a server that cannot be started puts its connection into error, and comes back by itself", async () => {
  const { pid } = (await call("shelf_look")).body.result as { pid: number };
  await writeFile(join(folder, "broken"), "");
  process.kill(pid, "SIGKILL");
  await expect.poll(readState, { timeout: 30_000 }).toBe("error");
  const refused = await call("shelf_look");
  expect(refused.status).toBe(422);
  expect(refused.body).toMatchObject({ error: { code: "integration_misconfigured" } });
  await rm(join(folder, "broken"));
  await expect.poll(readState, { timeout: 30_000 }).toBe("healthy");
  expect((await call("shelf_look")).status).toBe(200);
}, 60_000);

test("a changed tool is put before the owner and not run until he agrees; the others go on", async () => {
  const { pid } = (await call("shelf_look")).body.result as { pid: number };
  await writeFile(join(folder, "changed"), "");
  process.kill(pid, "SIGKILL");
  await expect.poll(() => isRunning(pid), { timeout: 30_000 }).toBe(false);
  const refused = await call("shelf_look");
  expect(refused.status).toBe(422);
  expect(JSON.stringify(refused.body)).toContain("svc review shelf");
  expect((await call("shelf_note", { text: "two" }, true)).status).toBe(200);

  const { proposal } = await findUsable(admin, "shelf");
  expect(proposal?.content.actions.find(({ id }) => id === "look")?.description).toBe("Looks, and tells others.");
  expect((await describe("shelf_look")).description).toBe("Looks.");
  expect(await admin.accept("shelf", proposal?.digest ?? "")).toBe(true);
  await expect
    .poll(async () => (await describe("shelf_look")).description, { timeout: 30_000 })
    .toBe("Looks, and tells others.");
  expect((await call("shelf_look")).status).toBe(200);
}, 60_000);

test("an untrusted server's word counts for nothing: every tool is a write", async () => {
  const { source } = await prepareMcp(
    { slug: "doubted", name: "Doubted", definition: { ...definition, trusted: false } },
    { SHELF_TOKEN: "x" },
    AbortSignal.timeout(30_000),
  );
  expect(
    new Set(source.content.actions.map(({ level, requiresConfirmation }) => `${level} ${requiresConfirmation}`)),
  ).toEqual(new Set(["write true"]));
});

test("a human is told that nobody vouches for it, not that it changes something", async () => {
  await add("doubted", { ...definition, trusted: false });
  const { policyReason } = await describe("doubted_look");
  expect(policyReason).toContain("is not trusted, so each counts as a write");
  expect(policyReason).not.toContain("changes something");
  expect(await admin.remove("doubted")).toBe(true);
}, 60_000);

test("the token is kept encrypted, apart from the app", async () => {
  const stored = await admin.list();
  expect(stored.map(({ slug }) => slug)).toEqual(["shelf"]);
  expect(JSON.stringify(stored)).not.toContain("token-of-the-shelf");
  const files = await Promise.all(
    ["svc.db", "svc.db-wal"].map((name) => readFile(join(service.dataDir, name), "latin1").catch(() => "")),
  );
  expect(files.join("")).toContain("SHELF_TOKEN");
  expect(files.join("")).not.toContain("token-of-the-shelf");
});

test("a removed app is gone, and its server with it", async () => {
  const { pid } = (await call("shelf_look")).body.result as { pid: number };
  expect(await admin.remove("shelf")).toBe(true);
  await expect.poll(() => listTools("shelf"), { timeout: 30_000 }).toEqual([]);
  await expect.poll(() => isRunning(pid), { timeout: 30_000 }).toBe(false);
  expect((await call("shelf_look")).status).toBe(404);
}, 60_000);

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
