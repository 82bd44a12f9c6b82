import { afterAll, beforeAll, expect, test } from "vitest";
import { CLUSTER_SECRET, type Cluster, startCluster } from "../../service/postgres/cluster.ts";
import { startPostgres, type TestPostgres } from "../../suites/start-postgres.ts";
import { choose } from "../kit/fault-form.ts";
import { HELD_FORM, runHeldWrites } from "../kit/held/run-held-writes.ts";

/** Three processes of the service that hold all calls for their owner; one of them is killed again and again. */

let postgres: TestPostgres;
let database: string;
let cluster: Cluster;
beforeAll(async () => {
  postgres = await startPostgres();
  database = await postgres.createDatabase();
  cluster = await startCluster(3, { database, approvals: "owner" });
}, 120_000);
afterAll(async () => {
  await cluster?.close();
  await postgres?.stop();
});

test(
  "on three nodes: nothing runs without a click, and with one each write once",
  async () => {
    const { url, apiKey, nodes } = cluster;
    const dataDir = nodes[0]?.dataDir ?? "";
    const place = {
      url,
      apiKey,
      dataDir,
      database,
      secretKey: CLUSTER_SECRET,
      signInUrl: () => cluster.signInUrl(),
      async kill(random: () => number) {
        const victim = nodes[Math.floor(random() * nodes.length)];
        if (victim !== undefined) await cluster.replace(victim);
      },
    };
    const tally = await runHeldWrites(place, { ...HELD_FORM, seed: 81 });
    console.log(JSON.stringify(tally));
    expect(tally.effects).toEqual({ 1: tally.writes });
  },
  choose({ short: 240_000, long: 2_400_000 }),
);
