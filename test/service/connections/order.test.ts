import { join } from "node:path";
import { expect, test } from "vitest";
import { startTestService } from "../../../src/testing.ts";

test("connections are listed in the order they were made in, also within one millisecond", async () => {
  const test = await startTestService({ now: () => Date.parse("2026-11-20T10:00:00Z") });
  try {
    const { connections } = test.service;
    const labels = Array.from({ length: 12 }, (_, index) => `Drive ${index}`);
    for (const label of labels) {
      await connections.add({ integration: "drive", label, settings: { folder: join(test.dataDir, "drive") } });
    }
    const listed = (await connections.list("drive")).map((connection) => connection.label);
    expect(listed).toEqual(["Local drive", ...labels]);
  } finally {
    await test.close();
  }
});
