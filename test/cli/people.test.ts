import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EXIT } from "../../src/cli/exit-codes.ts";
import { startTestService, type TestService } from "../../src/testing.ts";
import { runSvc } from "../e2e/run-svc.ts";
import { openBrowser } from "../service/http/pages/browser.ts";

/** `svc people` beside a running service, which obeys at once. */

let service: TestService;
let home: string;
beforeAll(async () => {
  service = await startTestService();
  home = await mkdtemp(join(tmpdir(), "svc-people-"));
});
afterAll(async () => {
  await service.close();
  await rm(home, { recursive: true, force: true });
});

const svc = (args: readonly string[], input?: string) =>
  runSvc(["people", ...args, "--data", service.dataDir], home, input === undefined ? {} : { input });

test("somebody is invited, listed and removed, which signs them out at once", async () => {
  const invited = await svc(["invite", "Ada Lovelace"]);
  const [link = "", next] = invited.stdout.split("\n");
  expect(link).toMatch(new RegExp(`^${service.url}/sign-in\\?token=[\\w-]{43}$`));
  expect(next).toContain("It works once, until ");
  expect((await svc(["list"])).stdout).toBe(
    "Owner         owner     not signed in\nAda Lovelace  approver  invited, not signed in yet\n",
  );
  const ada = openBrowser();
  await ada.open(link);
  expect((await svc([])).stdout).toContain("Ada Lovelace  approver  signed in with one browser");
  expect((await svc(["remove", "Ada Lovelace"], "n\n")).code).toBe(EXIT.notApproved);
  expect((await ada.open(`${service.url}/inbox`)).status).toBe(200);
  expect((await svc(["remove", "Ada Lovelace"], "y\n")).code).toBe(EXIT.ok);
  expect((await ada.open(`${service.url}/inbox`)).status).toBe(401);
});

test.each([
  [["invite", "oWNER"], "Somebody called oWNER is there already."],
  [["remove", "Owner", "--yes"], "Owner is the only owner who has signed in."],
  [["remove", "Eve"], 'There is no person "Eve".'],
])("%j is refused", async (args, message) => {
  const refused = await svc(args);
  expect([refused.code, refused.stderr]).toEqual([EXIT.failed, expect.stringContaining(message)]);
});
