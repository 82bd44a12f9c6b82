import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

describe("memory", () => {
  it("reads a 100 MB envelope with little more memory than a small one", () => {
    const child = fileURLToPath(new URL("./memory-child.ts", import.meta.url));
    const { total, growthMib } = JSON.parse(execFileSync(process.execPath, [child], { encoding: "utf8" })) as {
      total: number;
      growthMib: number;
    };
    console.log(`100 MB envelope: peak RSS grew by ${growthMib} MiB`);
    expect(total).toBeGreaterThan(99 * 1024 * 1024);
    expect(growthMib).toBeLessThan(60);
  }, 60_000);
});
