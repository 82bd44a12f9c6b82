import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { attach } from "../files/envelope.ts";
import { openBrowser } from "../http/pages/browser.ts";
import { call, execute } from "../http-calls.ts";
import { decideTogether } from "./owner.ts";

let service: TestService;
let root: string;

beforeEach(async () => {
  service = await startTestService({ approvals: "owner" });
  root = join(service.dataDir, "drive");
  await mkdir(root, { recursive: true });
  await writeFile(join(root, "report.txt"), "The old report.\n");
});
afterEach(() => service.close());

const hold = async (tool: string, body: object): Promise<string> =>
  (await execute(service, tool, body)).json.error.approval.id;

/** The agent moves the old report away, then saves a new one in its place. */
async function askForBoth(): Promise<[move: string, save: string]> {
  const bytes = Buffer.from("The new report.\n");
  const file = { name: "report.txt", mimetype: "text/plain", s3key: "local:1" };
  const sent = attach("local:1", bytes, { name: "report.txt", mimetype: "text/plain" });
  const move = await hold("drive_move_file", {
    arguments: { path: "report.txt", destination: "Archive/report-old.txt" },
  });
  const save = await hold("drive_upload_file", { arguments: { file, if_exists: "replace" }, files: [sent] });
  return [move, save];
}

test.each([
  ["newest first, as the list has them", true],
  ["oldest first", false],
])("a file that is moved away and then saved anew is lost in no order of the form: %s", async (_, isReversed) => {
  const ids = await askForBoth();
  const browser = openBrowser();
  await browser.open(await service.service.signInUrl());
  await decideTogether(browser, service.url, isReversed ? ids.toReversed() : ids);
  const statusOf = async (id: string) =>
    (await call(`${service.url}/api/approvals/${id}`, { key: service.apiKey })).json.approval.status;
  await expect.poll(() => Promise.all(ids.map(statusOf))).toEqual(["done", "done"]);
  expect((await service.effects()).map(({ toolName, status }) => `${toolName} ${status}`)).toEqual([
    "drive_move_file succeeded",
    "drive_upload_file succeeded",
  ]);
  expect(await readFile(join(root, "Archive/report-old.txt"), "utf8")).toBe("The old report.\n");
  expect(await readFile(join(root, "report.txt"), "utf8")).toBe("The new report.\n");
});
