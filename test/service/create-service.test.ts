import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, statSync } from "node:fs";
import { mkdir, mkdtemp, open, readdir, rm, writeFile } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createService, type ServiceOptions } from "../../src/service.ts";
import { findFreePort } from "./free-port.ts";
import { call } from "./http-calls.ts";
import { createLab } from "./lab-integration.ts";

const MAKE_FIFO = "mkfifo";

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "svc-create-"));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

describe("options that cannot work", () => {
  test.each([
    [{ dataDir: " " }, "dataDir"],
    [{ port: -1 }, "port"],
    [{ port: 70_000 }, "port"],
    [{ port: 1.5 }, "port"],
    [{ usageLimit: -1 }, "usageLimit"],
    [{ host: "0.0.0.0" }, "publicUrl"],
    [{ host: "::" }, "publicUrl"],
    [{ host: "192.0.2.1", publicUrl: "http://192.0.2.1:8790" }, "host"],
    [{ publicUrl: "svc.example.org" }, "publicUrl"],
    [{ publicUrl: "https://svc.example.org/path" }, "publicUrl"],
    [{ publicUrl: "ftp://svc.example.org" }, "publicUrl"],
    [{ publicUrl: "https://user@svc.example.org" }, "publicUrl"],
  ] as [Partial<ServiceOptions>, string][])("%j names %s and a way out", async (options, field) => {
    await expect(createService({ dataDir, port: 0, ...options })).rejects.toMatchObject({
      code: "invalid_config",
      field,
      hint: expect.stringMatching(/./),
    });
  });

  test.each([
    [{ flowApprovals: "Dashboard" }, "flowApprovals", '"api" or "dashboard", and not "Dashboard"'],
    [{ flowApproval: "dashboard" }, "flowApproval", "no option"],
    [{ ingestSecret: "" }, "ingestSecret", "32 characters"],
    [{ ingestSecret: "x".repeat(31) }, "ingestSecret", "32 characters"],
    [{ secretKey: 12_345_678 }, "secretKey", "32 characters"],
    [{ heartbeatMs: 0 }, "heartbeatMs", "from 10 to 3600000, and not 0"],
    [{ heartbeatMs: Number.NaN }, "heartbeatMs", "not NaN"],
    [{ heartbeatMs: 3_600_001 }, "heartbeatMs", "from 10 to 3600000"],
    [{ providerTimeoutMs: -1 }, "providerTimeoutMs", "from 1 to 86400000, and not -1"],
    [{ providerTimeoutMs: Number.POSITIVE_INFINITY }, "providerTimeoutMs", "not Infinity"],
    [{ providerTimeoutMs: "60000" }, "providerTimeoutMs", 'not "60000"'],
    [{ port: null }, "port", "whole number"],
    [{ host: "", publicUrl: "http://127.0.0.1" }, "host", "address"],
    [{ fileEnvelopes: "false" }, "fileEnvelopes", "true or false"],
    [{ allowHosts: "files.example.org:80" }, "allowHosts", "list"],
    [{ files: null }, "files", "folder"],
    [{ files: { bucket: "b".repeat(9) } }, "files", "bucket"],
    [{ database: 5432 }, "database", "PostgreSQL"],
    [{ publicUrl: new URL("https://svc.example.org") }, "publicUrl", "origin"],
    [{ retentionDays: "7" }, "retentionDays", "days"],
    [{ integrations: {} }, "integrations", "list of integrations"],
    [{ now: 0 }, "now", "function"],
    [{ log: console }, "log", "function"],
    [{ dataDir: undefined }, "dataDir", "path"],
  ])("of a caller without types, %j: %s must be %s", async (options, field, allowed) => {
    const started = createService({ dataDir, port: 0, ...options } as ServiceOptions);
    const refused = started.then((service) => service.close());
    await expect(refused).rejects.toMatchObject({ code: "invalid_config", field, hint: expect.stringMatching(/./) });
    await expect(refused).rejects.toThrow(allowed);
  });

  test("no options at all", async () => {
    await expect(createService(undefined as unknown as ServiceOptions)).rejects.toMatchObject({
      code: "invalid_config",
      field: "dataDir",
    });
  });

  test("a secret is in no refusal", async () => {
    const refused = createService({ dataDir, port: 0, ingestSecret: "too short", log: () => {} });
    await expect(refused).rejects.toThrow(/^(?!.*too short)/);
  });

  test("a port in use, after which the folder is free again", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const address = other.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    await expect(createService({ dataDir, port })).rejects.toMatchObject({
      code: "invalid_config",
      field: "port",
      message: `Port ${port} on 127.0.0.1 is already in use.`,
    });
    other.close();
    await (await createService({ dataDir, port: 0 })).close();
  });
});

test("a start that fails late does not wait for a request that came early", async () => {
  const secret = join(dataDir, "ingest-secret");
  execFileSync(MAKE_FIFO, [secret]);
  const port = await findFreePort();
  const refused = createService({ dataDir, port }).catch((error: unknown) => error);
  const early = await vi.waitFor(() => connectTo(port), { timeout: 30_000 });
  early.write("GET /health HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\r\n");
  const [received] = await once(early, "data");
  expect(String(received)).toContain("100 Continue");
  const ended = once(early.resume(), "close");
  const writer = await open(secret, "w");
  await rm(secret);
  await mkdir(secret);
  await writer.close();
  expect(await refused).toMatchObject({ code: "EISDIR" });
  await ended;
}, 30_000);

/** Rejects while nobody listens. */
async function connectTo(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  return socket.on("error", () => {});
}

test("a database that is damaged is named, with the way back", async () => {
  await writeFile(join(dataDir, "svc.db"), randomBytes(4096), { mode: 0o600 });
  await expect(createService({ dataDir, port: 0 })).rejects.toMatchObject({
    code: "invalid_config",
    message: `The database ${join(dataDir, "svc.db")} is damaged: file is not a database.`,
    hint: expect.stringContaining("svc restore"),
  });
});

describe("the first start", () => {
  test("connects the local apps once", async () => {
    const first = await createService({ dataDir, port: 0 });
    const connections = await first.connections.list();
    expect(connections.map(({ integration, state, isDefault }) => [integration, state, isDefault]).sort()).toEqual([
      ["calendar", "healthy", true],
      ["contacts", "healthy", true],
      ["drive", "healthy", true],
      ["feeds", "healthy", true],
      ["mail", "healthy", true],
      ["notes", "healthy", true],
    ]);
    expect(connections.map(({ settings }) => Object.values(settings)[0]).sort()).toEqual(
      ["calendar", "contacts", "drive", "feeds", "mail", "notes"].map((name) => join(dataDir, name)),
    );
    const modes = ["lock.db", "svc.db", "connection-secrets.key"].map(
      (name) => statSync(join(dataDir, name)).mode & 0o777,
    );
    expect(modes).toEqual([0o600, 0o600, 0o600]);
    expect(existsSync(join(dataDir, "lock.db-journal"))).toBe(false);
    // A mail program may deliver before the first call.
    expect((await readdir(join(dataDir, "mail"))).sort()).toEqual(["cur", "new", "tmp"]);
    for (const { id } of connections) await first.connections.remove(id);
    await first.close();
    const second = await createService({ dataDir, port: 0 });
    expect(await second.connections.list()).toEqual([]);
    await second.close();
  });
});

describe("connections", () => {
  test("one default per integration, changes kept, unknown ones refused", async () => {
    const service = await createService({ dataDir, port: 0, integrations: [createLab().integration] });
    try {
      const { connections } = service;
      const a = await connections.add({ integration: "lab", label: "A", settings: { n: 1 }, isDefault: true });
      const b = await connections.add({ integration: "lab", label: "B", settings: {}, isDefault: true });
      expect(a.scopes).toEqual(["lab.read", "lab.write"]);
      const defaults = async () => (await connections.list("lab")).filter((one) => one.isDefault).map((one) => one.id);
      expect(await defaults()).toEqual([b.id]);
      await connections.update(a.id, { isDefault: true, label: "A2", scopes: [], state: "error" });
      expect(await defaults()).toEqual([a.id]);
      expect((await connections.list()).find(({ id }) => id === a.id)).toEqual({
        ...a,
        label: "A2",
        scopes: [],
        state: "error",
        isDefault: true,
      });
      await expect(connections.add({ integration: "x", label: "X", settings: {} })).rejects.toMatchObject({
        code: "integration_not_found",
      });
      await expect(connections.update("nope", {})).rejects.toMatchObject({ code: "connection_not_found" });
      await expect(connections.remove("nope")).rejects.toMatchObject({ code: "connection_not_found" });
    } finally {
      await service.close();
    }
  });
});

test("close refuses new requests and lets go of port and folder", async () => {
  const service = await createService({ dataDir, port: 0 });
  await service.close();
  await expect(call(`${service.url}/health`)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  await (await createService({ dataDir, port: Number(new URL(service.url).port) })).close();
});
