import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { Windows } from "./wine.ts";
import { HOME } from "./wine-place.ts";

/** Quick suites of the plugin and of what the service keeps on disks, run by Windows' Node with its temporary files on NTFS. */
const SUITES = [
  "shared",
  ...["schema", "media", "pairing", "calls", "client"].map((room) => `plugin/${room}`),
  ...["files", "store"].map((room) => `service/${room}`),
];

const reportSchema = z.looseObject({
  numPassedTests: z.number(),
  testResults: z.array(
    z.looseObject({
      name: z.string(),
      status: z.string(),
      message: z.string(),
      assertionResults: z.array(z.looseObject({ status: z.string(), fullName: z.string() })),
    }),
  ),
});

test("the quick suites pass", { timeout: 900_000 }, async () => {
  const windows = await Windows.start();
  try {
    await mkdir(join(windows.home, "temporary"));
    const folders = { TMP: `${HOME}\\temporary`, TEMP: `${HOME}\\temporary` };
    const vitest = "node_modules/vitest/vitest.mjs run --config test/vitest.config.ts --project tests --maxWorkers 2";
    const report = ["--reporter=json", "--outputFile=Z:/scratch/report.json"];
    const suites = SUITES.map((name) => `test/${name}/`);
    const ran = await windows.run([...vitest.split(" "), ...report, ...suites], { cwd: "/checkout", env: folders });
    const text = await readFile(join(windows.scratch, "report.json"), "utf8").catch(() => ran.stdout + ran.stderr);
    const { numPassedTests, testResults } = reportSchema.parse(JSON.parse(text));
    const failed = testResults.flatMap(({ name, status, message, assertionResults }) => {
      const tests = assertionResults.filter((one) => one.status === "failed").map(({ fullName }) => fullName);
      return status === "failed" && tests.length === 0 ? [`${name}: ${message}`] : tests;
    });
    expect(failed).toEqual([]);
    expect(ran.code, ran.stderr).toBe(0);
    expect(numPassedTests).toBeGreaterThan(2_500);
    console.log(`Under Windows' Node: ${numPassedTests} passed in ${testResults.length} files.`);
  } finally {
    await windows.close();
  }
});
