import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const MB = 1_000_000;

test("100 MiB of files are sent with less than 40 MB of growth in memory", { timeout: 120_000 }, async () => {
  const script = fileURLToPath(new URL("../../fixtures/media/send-envelope.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", script]);
  const { announced, received, grown } = JSON.parse(stdout.trim().split("\n").at(-1) ?? "{}");
  console.log(`envelope of 4 x 25 MiB: ${received} bytes received, peak memory grew by ${(grown / MB).toFixed(1)} MB`);
  expect(received).toBe(announced);
  expect(received).toBeGreaterThan(4 * Math.ceil((25 * 1024 * 1024) / 3) * 4);
  expect(grown).toBeLessThan(40 * MB);
});
