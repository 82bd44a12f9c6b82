import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openService } from "../../../src/service/open-service.ts";
import { testDefaults } from "../../../src/service/test-kit/start-test-service.ts";
import { openStoreOf } from "../find-store.ts";
import { apps, checkAnswers } from "./kept-answers.ts";

test("no answer is older than a change of a key, its rights, a rule, an account or an app", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "svc-kept-"));
  const clock = { time: Date.now() };
  const now = () => clock.time;
  const place = { dataDir, ...(await testDefaults.forFolder?.(dataDir)) };
  const service = await openService({ ...place, port: 0, integrations: apps, now, log: () => {} });
  const outside = await openStoreOf(dataDir);
  try {
    expect(await checkAnswers({ services: [service], outside, clock }, 12)).toBeGreaterThan(150);
  } finally {
    await outside.destroy();
    await service.close();
    await rm(dataDir, { recursive: true, force: true });
  }
});
