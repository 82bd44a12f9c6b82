import { expect, test } from "vitest";
import { runOnSmallDisk } from "./small-disk.ts";

test("a full and a read-only disk are in the log once, fail the health check in words, and end by themselves", async () => {
  const seen = await runOnSmallDisk(new URL("health-child.ts", import.meta.url), "6m");
  const full = "The disk of this service is full.";
  const readOnly = "The disk of this service is read-only.";
  expect(seen).toMatchObject({
    good: { health: 200, problems: [], call: [200, null], log: [] },
    full: {
      health: 503,
      problems: [{ code: "disk_full", message: full }],
      call: [503, expect.stringContaining("The disk of this service is full")],
      log: [expect.stringMatching(/^error: The disk of this service is full\. Free space for /)],
    },
    "full, later": { health: 503, problems: [{ code: "disk_full" }], log: [] },
    freed: { health: 200, problems: [], call: [200, null], log: [`info: This is over: ${full}`] },
    "read-only": {
      health: 503,
      problems: [{ code: "disk_read_only", message: readOnly }],
      log: [expect.stringMatching(/^error: The disk of this service is read-only\. Make .* writable again\.$/)],
    },
    writable: { health: 200, problems: [], call: [200, null] },
    "first start": { failed: true, later: 200 },
  });
}, 60_000);
