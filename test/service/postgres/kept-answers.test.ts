import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openService } from "../../../src/service/open-service.ts";
import { openStore } from "../../../src/service/store/open-store.ts";
import { startPostgres } from "../../suites/start-postgres.ts";
import { apps, checkAnswers } from "../access/kept-answers.ts";

const NODES = 3;

/** `SVC_KEPT_RUNS` makes more of them. */
const RUNS = Number(process.env.SVC_KEPT_RUNS ?? 150);

test("no answer of any of three nodes is older than a change at another one", async () => {
  const postgres = await startPostgres();
  const folder = await mkdtemp(join(tmpdir(), "svc-kept-"));
  const database = await postgres.createDatabase();
  const clock = { time: Date.now() };
  const options = { database, files: join(folder, "files"), secretKey: "one text of 32 letters for all nodes" };
  const open = (index: number) => {
    const dataDir = join(folder, `node-${index}`);
    return openService({ ...options, dataDir, port: 0, integrations: apps, now: () => clock.time, log: () => {} });
  };
  const services = await Promise.all(Array.from({ length: NODES }, (_, index) => open(index)));
  const outside = await openStore(database);
  try {
    expect(await checkAnswers({ services, outside, clock }, RUNS)).toBeGreaterThan(RUNS * 12);
  } finally {
    await outside.destroy();
    for (const service of services) await service.close();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}, 600_000);
