import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { PACKAGE_ROOT, readPackage } from "./read-package.ts";
import { runCommand } from "./run-command.ts";

/** Runs the command, or a program, under this Node while it reports another version. */
function runAs(version: string, program = [join(PACKAGE_ROOT, "src/bin.ts"), "--version"]) {
  const disguise = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } });`;
  const preload = `data:text/javascript,${encodeURIComponent(disguise)}`;
  return runCommand(process.execPath, ["--import", preload, ...program], PACKAGE_ROOT);
}

describe("the command", () => {
  test.each(["18.20.8", "20.20.2", "22.18.0"])("refuses Node %s in one sentence", async (version) => {
    const result = await runAs(version);
    expect(result).toMatchObject({ code: 1, stdout: "" });
    expect(result.stderr).toMatch(/^[^\n]+\n$/);
    expect(result.stderr).toContain("22.19");
    expect(result.stderr).toContain(version);
  });

  test.each(["22.19.0", "24.21.0", "26.1.0"])("runs under Node %s", async (version) => {
    expect(await runAs(version)).toMatchObject({ code: 0, stdout: `${readPackage().version}\n` });
  });

  test("asks for the version that package.json declares", () => {
    expect(readPackage().engines.node).toBe(">=22.19");
  });
});

describe("a program", () => {
  const DOOR = JSON.stringify(new URL("../../src/index.ts", import.meta.url).href);
  const code = `import { SvcClient } from ${DOOR};
    try { await new SvcClient({ baseUrl: "http://127.0.0.1:9" }).close(); console.log("made"); }
    catch ({ code, message }) { console.log(code, message); }`;

  test.each([
    ["20.20.2", "unsupported svc-agent-plugin needs Node 22.19 or newer, and this is Node 20.20.2.\n"],
    ["22.18.0", "unsupported svc-agent-plugin needs Node 22.19 or newer, and this is Node 22.18.0.\n"],
    ["22.19.0", "made\n"],
    ["26.3.0", "made\n"],
  ])("under Node %s", async (version, stdout) => {
    expect(await runAs(version, ["--input-type=module", "--eval", code])).toMatchObject({ stdout });
  });
});
