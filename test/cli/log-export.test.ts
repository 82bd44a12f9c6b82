import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startTestService } from "../../src/testing.ts";
import { runSvc } from "../e2e/run-svc.ts";
import { findStore } from "../service/find-store.ts";
import { execute } from "../service/http-calls.ts";
import { expectMode } from "../suites/this-system.ts";

test("svc log export writes the log of a service that runs, to standard output or a file of the owner alone", async () => {
  const service = await startTestService();
  try {
    for (const folder of ["", "/"]) await execute(service, "drive_list_files", { arguments: { folder } });
    const { database } = await findStore(service.dataDir);
    const place = ["--data", service.dataDir, ...(database === undefined ? [] : ["--database", database])];
    const run = (...flags: string[]) => runSvc(["log", "export", ...place, ...flags], service.dataDir);
    const printed = await run();
    const lines = printed.stdout.trimEnd().split("\n");
    expect(lines).toHaveLength(2);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ type: "execution", tool: "drive_list_files" });
    const file = join(service.dataDir, "log.ndjson");
    expect((await run("--file", file)).stdout).toBe(`2 lines in ${file}\n`);
    expect(await readFile(file, "utf8")).toBe(printed.stdout);
    expectMode(file, 0o600);
    expect((await run("--status", "gone")).stderr).toContain("Use one of: started, succeeded");
    expect((await run("--from", "yesterday")).stderr).toContain("YYYY-MM-DD");
  } finally {
    await service.close();
  }
});
