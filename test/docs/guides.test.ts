import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTestService, type TestService } from "../../src/testing.ts";
import { runSvc } from "../e2e/run-svc.ts";
import { closeAll, closeLater, makeFolder } from "../tools/open-test-session.ts";

/** Every block of these guides is run and prints what the guide says. */

const ROOT = new URL("../../", import.meta.url);
const GUIDES = ["docs/many-tools.md", "docs/flows.md", "docs/testing.md"];

let service: TestService;
beforeEach(async () => {
  service = closeLater(await startTestService());
});
afterEach(closeAll);

interface Block {
  readonly name: string;
  readonly language: string;
  readonly code: string;
  readonly prints: string;
}

function readBlocks(guide: string): Block[] {
  const text = readFileSync(new URL(guide, ROOT), "utf8");
  const fences = [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)];
  return fences.flatMap(({ 1: language = "", 2: code = "", index }, at) => {
    if (language === "text") return [];
    const next = fences[at + 1];
    const name = `${guide}:${text.slice(0, index).split("\n").length}`;
    return [{ name, language, code, prints: next?.[1] === "text" ? (next[2] ?? "") : "" }];
  });
}

const blocks = GUIDES.flatMap(readBlocks);

describe("a guide", () => {
  test.each(blocks.filter(({ language }) => language === "js"))(
    "$name prints what it says",
    async ({ code, prints }) => {
      const source = code.replaceAll(/"svc-agent-plugin\/(\w+)"/g, (_match, door: string) =>
        JSON.stringify(new URL(`src/${door}.ts`, ROOT).href),
      );
      const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", source], {
        cwd: ROOT,
        env: { SVC_BASE_URL: service.url, SVC_API_KEY: service.apiKey },
      });
      expect(prints).not.toBe("");
      expect(stdout).toBe(prints);
    },
  );

  test.each(blocks.filter(({ language }) => language === "sh"))("$name runs", async ({ code }) => {
    const home = await makeFolder();
    for (const line of code.trim().split("\n")) {
      const [svc, ...args] = splitWords(line);
      expect(svc).toBe("svc");
      const env = { SVC_BASE_URL: service.url, SVC_API_KEY: service.apiKey };
      const run = await runSvc(args, home, { env });
      expect(run, run.stderr).toMatchObject({ code: 0 });
    }
  });

  test("has blocks to run", () =>
    expect(blocks.map(({ language }) => language).sort()).toEqual(["js", "js", "js", "js", "sh"]));
});

/** Words of a line as a shell splits them; single quotes only. */
function splitWords(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? "");
}
