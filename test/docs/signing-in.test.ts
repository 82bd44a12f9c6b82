import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestService, type TestService } from "../../src/testing.ts";
import { startSvc } from "../e2e/run-svc.ts";
import { watchProcess } from "../e2e/watch-process.ts";
import { openOwnerBrowser } from "../service/oauth/oauth-client.ts";
import { closeAll, closeLater, makeFolder } from "../tools/open-test-session.ts";

/** The blocks of docs/signing-in.md, with the owner in a browser without scripts. */

const ROOT = new URL("../../", import.meta.url);
const GUIDE = readFileSync(new URL("docs/signing-in.md", ROOT), "utf8");
const readBlock = (language: string) => new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "ms").exec(GUIDE)?.[1] ?? "";

let service: TestService;
let folder: string;
beforeEach(async () => {
  service = closeLater(await startTestService());
  folder = await makeFolder();
});
afterEach(closeAll);

async function approve(link: string) {
  const owner = await openOwnerBrowser(await service.service.signInUrl());
  await fetch(await owner.decide(link, "approve"));
}

test("the commands run", async () => {
  for (const line of readBlock("sh").trim().split("\n")) {
    const [, ...args] = line.split(" ");
    const running = startSvc(args, folder, { SVC_BASE_URL: service.url });
    running.endInput();
    if (line === "svc login") await approve((await running.waitFor(/approve: (\S+)/))[1] ?? "");
    const done = await running.done;
    expect(done.code, `${line}\n${done.stdout}${done.stderr}`).toBe(0);
  }
});

test("the program signs in once and calls a tool each time", async () => {
  const source = readBlock("js").replace('"svc-agent-plugin"', JSON.stringify(new URL("src/index.ts", ROOT).href));
  const start = () =>
    watchProcess(process.execPath, ["--input-type=module", "--eval", source], {
      cwd: folder,
      env: { SVC_BASE_URL: service.url, HOME: join(folder, "home") },
    });
  const first = start();
  await approve((await first.waitFor(/^Open (\S+)$/m))[1] ?? "");
  expect((await first.done).stdout).toMatch(/^Open \S+\nsucceeded\n$/);
  const second = await start().done;
  expect([second.stdout, second.stderr]).toEqual(["succeeded\n", ""]);
});
