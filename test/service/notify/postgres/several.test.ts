import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type OpenService, openService } from "../../../../src/service/open-service.ts";
import { startPostgres, type TestPostgres } from "../../../suites/start-postgres.ts";
import { execute } from "../../http-calls.ts";
import { createLab } from "../../lab-integration.ts";
import { type Receiver, startReceiver } from "../receiver.ts";

const NODES = 3;
const HOLDS = 30;
const MINUTE = 60_000;
const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

let postgres: TestPostgres;
let folder: string;
let receiver: Receiver;
let services: OpenService[];
let clock: number;

beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-notes-"));
  receiver = await startReceiver();
  clock = Date.parse("2026-11-25T12:00:00Z");
  services = [];
});
afterEach(async () => {
  for (const service of services) await service.close();
  await receiver.close();
  await rm(folder, { recursive: true, force: true });
});

test("of several nodes on one database one sends each note", async () => {
  const database = await postgres.createDatabase();
  for (let index = 0; index < NODES; index += 1) {
    services.push(
      await openService({
        ...{ database, port: 0, dataDir: join(folder, String(index)), files: join(folder, "files"), heartbeatMs: 50 },
        secretKey: "one text of 32 letters for all nodes",
        integrations: [createLab().integration],
        approvals: "owner",
        notify: [{ to: `webhook:${receiver.url}/`, secret: SECRET }],
        now: () => clock,
      }),
    );
  }
  const [first] = services as [OpenService];
  await first.connections.add({ integration: "lab", label: "Lab", settings: {} });
  const { apiKey } = await first.keys.issue({ accountId: first.accountId, label: "Test", client: null });
  const hold = async (node: OpenService, title: string) =>
    (await execute({ url: node.url, apiKey }, "lab_put", { arguments: { title } })).json.error.approval.id as string;
  const waiting = () => receiver.received.reduce((sum, { body }) => sum + JSON.parse(body).data.waiting, 0);
  let held = 0;
  for (let round = 0; round < HOLDS / NODES; round += 1) {
    await Promise.all(services.map((node, index) => hold(node, `${round} ${index}`)));
    held += NODES;
    await expect
      .poll(
        () => {
          clock += MINUTE;
          return waiting();
        },
        { timeout: 20_000 },
      )
      .toBe(held);
  }
  const ids = receiver.received.map(({ headers }) => headers["webhook-id"]);
  expect(new Set(ids).size).toBe(ids.length);
  // A note is forgotten when its target has answered.
  await expect.poll(() => first.store.selectFrom("notes").selectAll().execute()).toEqual([]);
}, 120_000);
