import { randomUUID } from "node:crypto";
import { access } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startPostgres, type TestPostgres } from "../../suites/start-postgres.ts";
import { call, execute, post } from "../http-calls.ts";
import { type Cluster, startCluster } from "./cluster.ts";

let postgres: TestPostgres;
let cluster: Cluster;

beforeAll(async () => {
  postgres = await startPostgres();
  cluster = await startCluster(5, { database: await postgres.createDatabase() });
}, 120_000);
afterAll(async () => {
  await cluster?.close();
  await postgres?.stop();
});

const nodeAt = (index: number) => cluster.nodes[index % cluster.nodes.length]?.url ?? "";
const times = <T>(count: number, work: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));

test("five that start at once on an empty database make one account and connect its apps once", async () => {
  expect(await cluster.store.selectFrom("accounts").selectAll().execute()).toHaveLength(1);
  const connections = await cluster.store.selectFrom("connections").select("integration").execute();
  expect(connections.map(({ integration }) => integration).sort()).toEqual([
    "calendar",
    "contacts",
    "drive",
    "feeds",
    "ledger",
    "mail",
    "notes",
  ]);
  expect(await cluster.store.selectFrom("nodes").select("id").execute()).toHaveLength(5);
});

describe("what one node begins, another goes on with", () => {
  test("a device starts to pair on one, is approved on a second, gets its key on a third and calls a fourth", async () => {
    const { sessionToken, verifier } = await cluster.approvePairing(nodeAt(0), nodeAt(1));
    const exchange = await post(`${nodeAt(2)}/api/plugin/pair/sessions/${sessionToken}/exchange`, { verifier });
    expect(exchange.status).toBe(200);
    expect((await call(`${nodeAt(3)}/api/tools`, { key: exchange.json.apiKey })).status).toBe(200);
  });

  test("a file is asked for by one, uploaded to a second, and used by a third", async () => {
    const bytes = Buffer.from(`a file ${randomUUID()}`);
    const file = { name: "a.txt", mimetype: "text/plain", s3key: "/home/me/a.txt" };
    const upload = (at: string, s3key: string) =>
      execute({ url: at, apiKey: cluster.apiKey }, "drive_upload_file", {
        arguments: { file: { ...file, s3key } },
        confirmed: true,
      });
    const asked = await upload(nodeAt(0), file.s3key);
    expect([asked.status, asked.json.error.code]).toEqual([400, "missing_file_bytes"]);
    const hint = asked.json.error.upload;
    expect(hint.url.startsWith(cluster.url)).toBe(true);
    const at = `${nodeAt(1)}${new URL(hint.url).pathname}`;
    const sent = await call(at, { method: "POST", headers: hint.headers, body: bytes });
    expect(sent.status).toBe(201);
    const done = await upload(nodeAt(2), sent.json.s3key);
    expect([done.status, done.json.result.size]).toEqual([200, bytes.length]);
  });

  test("an execution is read where it did not run", async () => {
    const { json } = await cluster.run("write", randomUUID(), { at: nodeAt(0) });
    const read = await call(`${nodeAt(1)}/api/executions/${json.execution_id}`, { key: cluster.apiKey });
    expect(read.json).toMatchObject({ status: "succeeded", output: json.output });
  });
});

describe("at the same time on all nodes", () => {
  test("20 equal requests with one idempotency key have one effect and one answer", async () => {
    const text = randomUUID();
    const replies = await times(20, () => cluster.run("write", text, { key: text }));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(replies.map(({ json }) => json.execution_id)).size).toBe(1);
    expect((await cluster.readLedger()).filter((line) => line === text)).toHaveLength(1);
  });

  test("20 exchanges of one pairing give one key", async () => {
    const { sessionToken, verifier } = await cluster.approvePairing(nodeAt(0), nodeAt(1));
    const replies = await times(20, (index) =>
      post(`${nodeAt(index)}/api/plugin/pair/sessions/${sessionToken}/exchange`, { verifier }),
    );
    const statuses = replies.map(({ status }) => status).sort();
    expect(statuses).toEqual([200, ...Array.from({ length: 19 }, () => 409)]);
  });

  test("20 uploads with one token store one file", async () => {
    const asked = await execute({ url: nodeAt(0), apiKey: cluster.apiKey }, "drive_upload_file", {
      arguments: { file: { name: "a.txt", mimetype: "text/plain", s3key: "/home/me/b.txt" } },
      confirmed: true,
    });
    const { headers } = asked.json.error.upload;
    const replies = await times(20, (index) =>
      call(`${nodeAt(index)}/api/files/ingest`, { method: "POST", headers, body: "text" }),
    );
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 401)).toHaveLength(19);
  });

  test("60 different writes are all done once", async () => {
    const texts = Array.from({ length: 60 }, () => randomUUID());
    const replies = await Promise.all(texts.map((text) => cluster.run("write", text)));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(replies.map(({ json }) => json.output.pid)).size).toBeGreaterThan(2);
    const ledger = await cluster.readLedger();
    for (const text of texts) expect(ledger.filter((line) => line === text)).toEqual([text]);
  });
});

describe("a node that is killed while it writes", () => {
  test("leaves an outcome that is not known; the others say so, go on, and never do it again", async () => {
    const victim = cluster.nodes.at(-1);
    if (victim === undefined) throw new Error("There is no node.");
    const text = randomUUID();
    const cut = cluster.run("hang", text, { key: text, at: victim.url }).catch((error: Error) => error);
    await expect
      .poll(() =>
        access(cluster.hangFile(text)).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    const twin = cluster.run("hang", text, { key: text, at: nodeAt(0) });
    await victim.kill();
    expect(await cut).toBeInstanceOf(Error);

    const answer = await twin;
    expect([answer.status, answer.json.status, answer.json.error_code]).toEqual([500, "failed", "execution_failed"]);
    expect(answer.json.message).toContain("not known");
    expect((await cluster.run("hang", text, { key: text })).json.execution_id).toBe(answer.json.execution_id);
    const rows = await cluster.store.selectFrom("executions").select("id").where("status", "=", "started").execute();
    expect(rows).toEqual([]);
    expect(await cluster.store.selectFrom("nodes").select("id").execute()).toHaveLength(4);
    const others = await times(8, (index) => cluster.run("write", `${text}-${index}`));
    expect(new Set(others.map(({ status }) => status))).toEqual(new Set([200]));
  }, 60_000);

  test("a write of a node that lives stays untouched meanwhile", async () => {
    const text = randomUUID();
    cluster.run("hang", text, { at: nodeAt(0) }).catch(() => {});
    await expect
      .poll(() =>
        access(cluster.hangFile(text)).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    const beats = () => cluster.store.selectFrom("nodes").select("beats").orderBy("id").executeTakeFirstOrThrow();
    const before = (await beats()).beats;
    await expect.poll(async () => (await beats()).beats, { timeout: 30_000 }).toBeGreaterThan(before + 5);
    const open = cluster.store.selectFrom("executions").select("arguments").where("status", "=", "started");
    expect(await open.execute()).toEqual([{ arguments: JSON.stringify({ text }) }]);
  }, 60_000);
});
