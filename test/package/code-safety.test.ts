import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { PACKAGE_ROOT } from "./read-package.ts";
import { scanCode } from "./scan-code.ts";

/**
 * They start the MCP servers that the owner of a service added, and the `tar` of a backup. The package for OpenClaw holds
 * nothing of the service.
 */
const STARTS_PROGRAMS = [
  "src/cli/open-editor.ts",
  "src/service/backup/archive.ts",
  "src/apps/mcp/child-transport.ts",
  // `taskkill` of Windows, for what such a server started.
  "src/apps/mcp/child-transport.ts",
  "src/apps/mcp/group-watch.ts",
];

describe("the code scan of a host", () => {
  test("finds nothing in the package, whatever part of it is looked at", () => {
    const files = globSync("src/**/*.ts", { cwd: PACKAGE_ROOT });
    expect(files.length).toBeGreaterThan(300);
    const findings = files.flatMap((file) => {
      return scanCode(readFileSync(join(PACKAGE_ROOT, file), "utf8")).map((finding) => `${file}: ${finding}`);
    });
    const isStart = (finding: string) => STARTS_PROGRAMS.some((file) => finding.startsWith(`${file}: dangerous-exec`));
    expect(findings.filter((finding) => !isStart(finding))).toEqual([]);
    expect(findings.filter(isStart)).toHaveLength(STARTS_PROGRAMS.length);
  });

  test.each([
    ["dangerous-exec", 'import { spawn } from "node:child_process";\nspawn("ls");'],
    ["dynamic-code-execution", 'eval("1");'],
    ["potential-exfiltration", "await readFile(path);\nawait fetch(url);"],
    ["env-harvesting", "const key = process.env.KEY;\nawait fetch(url);"],
  ])("would find %s", (id, source) => {
    expect(scanCode(source)).toContainEqual(expect.stringContaining(id));
  });
});
