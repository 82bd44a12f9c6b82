import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { builtInIntegrations } from "../../../src/apps/built-in.ts";
import { createOwnerSessions } from "../../../src/service/auth/owner-sessions.ts";
import { createPeople } from "../../../src/service/auth/people.ts";
import { createSignInLink } from "../../../src/service/create-sign-in-link.ts";
import { type OpenService, openService } from "../../../src/service/open-service.ts";
import type { ServiceOptions } from "../../../src/service/service-options.ts";
import { startPostgres, type TestPostgres } from "../../suites/start-postgres.ts";
import { startFakeS3 } from "../files/fake-s3.ts";
import { call, execute } from "../http-calls.ts";
import { ledgerIntegration } from "./ledger-integration.ts";

const SECRET = "one text of 32 letters for all nodes";

let postgres: TestPostgres;
let folder: string;
let database: string;
let services: OpenService[];

beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-shared-"));
  database = await postgres.createDatabase();
  services = [];
});
afterEach(async () => {
  for (const service of services) await service.close();
  await rm(folder, { recursive: true, force: true });
});

/** Another process on the database, though in this one. */
async function open(name: string, o: Partial<ServiceOptions> = {}): Promise<OpenService> {
  const place = { dataDir: join(folder, name), files: join(folder, "files"), database, port: 0, heartbeatMs: 300 };
  const service = await openService({ ...place, integrations: [ledgerIntegration], ...o });
  services.push(service);
  return service;
}

async function connect(service: OpenService): Promise<string> {
  const { apiKey } = await service.keys.issue({ accountId: service.accountId, label: "Test", client: null });
  await service.connections.add({ integration: "ledger", label: "L", settings: { file: join(folder, "ledger") } });
  return apiKey;
}

describe("the key of the secrets", () => {
  test("is the same text for all, and what one encrypts, another reads", async () => {
    const first = await open("a", { secretKey: SECRET });
    const second = await open("b", { secretKey: SECRET });
    expect(second.accountId).toBe(first.accountId);
    const keys = await first.store.selectFrom("service_keys").selectAll().execute();
    expect(keys.map(({ name }) => name)).toContain("ingest");
    expect(keys.filter(({ value }) => !value.startsWith("v1."))).toEqual([]);
  });

  test("made by the first node alone keeps others out until they have its file", async () => {
    await open("a");
    const refused = { code: "invalid_config", field: "secretKey", hint: expect.stringContaining("SVC_SECRET") };
    await expect(open("b")).rejects.toMatchObject(refused);
    await expect(open("c", { secretKey: SECRET })).rejects.toMatchObject(refused);
    expect(await services[0]?.store.selectFrom("nodes").select("id").execute()).toHaveLength(1);
  });
});

describe("a database that cannot be used is refused with its address, without its password", () => {
  test("there is none of that name", async () => {
    const url = new URL(database);
    url.password = "pa55word";
    url.pathname = "/svc_nope";
    const error = await open("a", { database: url.href }).catch((thrown: Error) => thrown);
    expect(error).toMatchObject({
      code: "invalid_config",
      field: "database",
      message: expect.stringMatching(/svc_nope cannot be used: .*does not exist/),
    });
    expect(String(error)).not.toContain("pa55word");
  });

  test("nobody listens", async () => {
    const refused = open("a", { database: "postgres://svc:pa55word@127.0.0.1:1/svc" });
    await expect(refused).rejects.toMatchObject({
      message: expect.stringMatching(/^The database 127\.0\.0\.1:1\/svc /),
    });
  });

  test("not PostgreSQL", async () => {
    await expect(open("a", { database: "mysql://x" })).rejects.toMatchObject({ field: "database" });
  });
});

test("the usage limit counts the executions of all nodes, to the last one", async () => {
  const nodes = [await open("a", { secretKey: SECRET, usageLimit: 7 })];
  nodes.push(await open("b", { secretKey: SECRET, usageLimit: 7 }));
  const apiKey = await connect(nodes[0]!);
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      execute({ url: nodes[index % 2]!.url, apiKey }, "ledger_write", {
        arguments: { text: `${index}` },
        confirmed: true,
      }),
    ),
  );
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(7);
  expect(replies.filter(({ status }) => status === 402)).toHaveLength(13);
});

test("of connections that become the default on two nodes at once, one is", async () => {
  const nodes = [await open("a", { secretKey: SECRET }), await open("b", { secretKey: SECRET })];
  await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      nodes[index % 2]!.connections.add({ integration: "ledger", label: `${index}`, settings: {}, isDefault: true }),
    ),
  );
  const all = await nodes[0]!.connections.list("ledger");
  await Promise.all(all.map(({ id }, index) => nodes[index % 2]!.connections.update(id, { isDefault: true })));
  expect((await nodes[1]!.connections.list("ledger")).filter(({ isDefault }) => isDefault)).toHaveLength(1);
});

test("a node that stops tells the others, and one that comes back after being taken for dead goes on", async () => {
  const first = await open("a", { secretKey: SECRET });
  const second = await open("b", { secretKey: SECRET });
  const ids = async () => (await first.store.selectFrom("nodes").select("id").execute()).map(({ id }) => id);
  const before = await ids();
  expect(before).toHaveLength(2);
  // As survivors do with a process that was frozen for a while.
  await first.store.deleteFrom("nodes").execute();
  await expect.poll(ids).toHaveLength(2);
  expect((await ids()).sort()).toEqual(before.sort());
  await second.close();
  expect(await ids()).toHaveLength(1);
});

test("a file uploaded to one process is used by another, through a bucket", async () => {
  const bucket = await startFakeS3();
  try {
    const o = { secretKey: SECRET, files: bucket.place, integrations: builtInIntegrations };
    const [first, second] = [await open("a", o), await open("b", o)];
    const { apiKey } = await first.keys.issue({ accountId: first.accountId, label: "Test", client: null });
    const upload = (url: string, s3key: string) =>
      execute({ url, apiKey }, "drive_upload_file", {
        arguments: { file: { name: "a.txt", mimetype: "text/plain", s3key } },
        confirmed: true,
      });
    const { headers } = (await upload(first.url, "/home/me/a.txt")).json.error.upload;
    const sent = await call(`${first.url}/api/files/ingest`, { method: "POST", headers, body: "hello" });
    expect((await upload(second.url, sent.json.s3key)).json.result.size).toBe(5);
    expect(bucket.seen.filter((line) => !line.includes(" 200 "))).toEqual([]);
    await bucket.close();
    const refused = await upload(second.url, sent.json.s3key);
    expect([refused.status, refused.json.error.code]).toEqual([503, "file_store_unavailable"]);
  } finally {
    await bucket.close();
  }
});

test("processes that keep files to themselves are told", async () => {
  const told: string[] = [];
  const log: ServiceOptions["log"] = ({ level, message }) => void (level === "warn" && told.push(message));
  for (const name of ["a", "b"]) await open(name, { secretKey: SECRET, files: join(folder, name), log });
  await expect.poll(() => told.length, { timeout: 30_000 }).toBe(2);
  expect(told).toEqual(told.map(() => expect.stringContaining("keeps files to itself")));
});

test("a sign-in link is made for the service on the shared database", async () => {
  const service = await open("a", { secretKey: SECRET });
  const link = await createSignInLink({ dataDir: join(folder, "a"), database });
  const { origin, pathname, searchParams: body } = new URL(link);
  const signedIn = await fetch(`${origin}${pathname}`, { method: "POST", body, redirect: "manual" });
  expect(signedIn.status).toBe(303);
  await expect(createSignInLink({ dataDir: join(folder, "a") })).rejects.toMatchObject({
    field: "dataDir",
    hint: expect.stringContaining("--database"),
  });
  expect(link.startsWith(service.url)).toBe(true);
});

test("a person is signed in at every process, and at none once they are removed", async () => {
  const [first, second] = [await open("a", { secretKey: SECRET }), await open("b", { secretKey: SECRET })];
  const people = createPeople(first.store, Date.now);
  const ada = await people.invite(first.accountId, { name: "Ada", role: "approver" });
  const { secret } = await createOwnerSessions(first.store, Date.now).createInvitation(ada.id);
  const body = new URLSearchParams({ token: secret });
  const signedIn = await fetch(`${first.url}/sign-in`, { method: "POST", body, redirect: "manual" });
  const [cookie = ""] = signedIn.headers.get("set-cookie")?.split(";") ?? [];
  const path = signedIn.headers.get("location")?.replace(/\/$/, "/inbox");
  const look = async () => {
    const replies = [first, second].map(({ url }) => call(`${url}${path}`, { headers: { cookie } }));
    return (await Promise.all(replies)).map(({ status }) => status);
  };
  expect(await look()).toEqual([200, 200]);
  await people.remove(first.accountId, ada.id);
  expect(await look()).toEqual([401, 401]);
});

test("text with a NUL, which PostgreSQL does not take, is not found rather than a fault", async () => {
  const service = await open("a", { secretKey: SECRET });
  const apiKey = await connect(service);
  expect((await call(`${service.url}/api/executions/exe%00`, { key: apiKey })).status).toBe(404);
  const { status } = await execute({ url: service.url, apiKey }, "ledger_write", {
    arguments: { text: "a\0b" },
    confirmed: true,
  });
  expect(status).toBe(200);
});

test("where files are kept must be a place", async () => {
  await writeFile(join(folder, "taken"), "");
  for (const files of ["", "ftp://x", join(folder, "taken")]) {
    await expect(open("a", { files })).rejects.toMatchObject({ code: "invalid_config", field: "files" });
  }
  const bucket = { bucket: "svc-files", region: "r", accessKeyId: "a", secretAccessKey: "b" };
  for (const change of [
    { bucket: "No" },
    { region: "" },
    { secretAccessKey: "" },
    { prefix: "a b" },
    { endpoint: "x" },
  ]) {
    await expect(open("a", { files: { ...bucket, ...change } })).rejects.toMatchObject({ field: "files" });
  }
});
