import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTestService, type TestService } from "../../src/testing.ts";
import { runSvc } from "../e2e/run-svc.ts";
import { closeAll, closeLater, makeFolder } from "../plugin/calls/open-test-session.ts";
import { readFences } from "./read-page.ts";
import { runBlock } from "./run-block.ts";

/** Every block of these guides is run and prints what the guide says. */

const GUIDES = ["agent-sdks", "approvals", "concepts", "files", "flows", "many-tools", "testing"].map(
  (name) => `docs/${name}.md`,
);

let service: TestService;
beforeEach(async () => {
  service = closeLater(await startTestService());
});
afterEach(closeAll);

/** In `js` it has a runtime, which `test/plugin/runtimes/library` loads. */
const IN_TS = readFences("docs/other-runtimes.md").filter(({ language }) => language === "ts");
const blocks = [...GUIDES.flatMap(readFences), ...IN_TS];
const PROGRAMS = ["js", "ts"];

describe("a guide", () => {
  test.each(blocks.filter(({ language }) => PROGRAMS.includes(language)))(
    "$name prints what it says",
    async ({ code, prints }) => {
      const SVC_MEDIA_ROOT = join(await makeFolder(), "media");
      const SVC_STATE = await makeFolder();
      const env = { SVC_BASE_URL: service.url, SVC_API_KEY: service.apiKey, SVC_MEDIA_ROOT, SVC_STATE };
      const stdout = await runBlock(code, env);
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

  test("has blocks to run", () => {
    const languages = blocks
      .map(({ language }) => language)
      .filter((language) => [...PROGRAMS, "sh"].includes(language));
    expect(languages.sort()).toEqual([...Array.from({ length: 8 }, () => "js"), "sh", "ts", "ts", "ts"]);
  });
});

/** Words of a line as a shell splits them; single quotes only. */
function splitWords(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? "");
}
