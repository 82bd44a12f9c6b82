import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { PACKAGE_ROOT } from "./read-package.ts";

/** One rule of the code scan that OpenClaw's `security audit --deep` runs over installed plugins (2026.9.6). */
interface Rule {
  readonly id: string;
  readonly pattern: RegExp;
  /** The rule counts only in a file that also holds this... */
  readonly beside?: RegExp;
  /** ...or, when set, holds it at most this many lines away. */
  readonly withinLines?: number;
}

const SENDS = /\bfetch\s*\(|\bpost\s*\(|\.\s*post\s*\(|http\.request\s*\(/i;
const RULES: readonly Rule[] = [
  { id: "dangerous-exec", pattern: /\b(exec|spawn|execFile)(Sync)?\s*\(/, beside: /child_process/ },
  { id: "dynamic-code-execution", pattern: /\beval\s*\(|new\s+Function\s*\(/ },
  { id: "potential-exfiltration", pattern: /readFileSync|readFile/, beside: SENDS },
  { id: "env-harvesting", pattern: /process\.env/, beside: SENDS, withinLines: 8 },
  { id: "obfuscated-code", pattern: /(\\x[0-9a-fA-F]{2}){6,}|(?:atob|Buffer\.from)\s*\(\s*["'][A-Za-z0-9+/=]{200,}/ },
];

/** They start the MCP servers that the owner of a service added. The package for OpenClaw holds nothing of the service. */
const STARTS_PROGRAMS = ["src/service/added/mcp/child-transport.ts", "src/service/added/mcp/group-watch.ts"];

/** Every finding in a source, with its line. */
function scan(source: string): string[] {
  const lines = source.split("\n");
  return RULES.flatMap(({ id, pattern, beside, withinLines }) =>
    lines.flatMap((line, index) => {
      const near =
        withinLines === undefined ? lines : lines.slice(Math.max(0, index - withinLines), index + withinLines + 1);
      const counts = pattern.test(line) && (beside === undefined || beside.test(near.join("\n")));
      return counts ? [`${id} in line ${index + 1}: ${line.trim()}`] : [];
    }),
  );
}

describe("the code scan of a host", () => {
  test("finds nothing in the package, whatever part of it is looked at", () => {
    const files = globSync("src/**/*.ts", { cwd: PACKAGE_ROOT });
    expect(files.length).toBeGreaterThan(300);
    const findings = files.flatMap((file) => {
      return scan(readFileSync(join(PACKAGE_ROOT, file), "utf8")).map((finding) => `${file}: ${finding}`);
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
    expect(scan(source)).toContainEqual(expect.stringContaining(id));
  });
});
