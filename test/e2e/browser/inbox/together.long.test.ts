import type { Page } from "playwright-core";
import { beforeEach, expect, test, vi } from "vitest";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { createQueueApp, type QueueApp } from "../../../service/approvals/queue-app.ts";
import { call, execute } from "../../../service/http-calls.ts";
import { judgeLooks } from "../chromium.ts";
import { useDesk } from "../sign-in/desk.ts";

/** Many similar calls wait, and their owner has a phone. */

vi.setConfig({ testTimeout: 180_000 });

const CALLS = 15;
const desk = useDesk();
let app: QueueApp;
let service: TestService;
let page: Page;

beforeEach(async () => {
  app = createQueueApp();
  service = desk.keep(await startTestService({ integrations: [app.integration], approvals: "owner" }));
  await service.service.connections.add({ integration: "queue", label: "Mine", settings: {} });
  page = await desk.openPage(service, { colorScheme: "dark", width: 390 });
});

async function ask(title: string): Promise<string> {
  return (await execute(service, "queue_step", { arguments: { title } })).json.error.approval.id;
}
const statusOf = async (id: string) =>
  (await call(`${service.url}/api/approvals/${id}`, { key: service.apiKey })).json.approval.status;
const titles = () => app.began.map(({ title }) => title);
/** `SVC_SHOTS=DIR` keeps pictures for people. */
async function keepShot(name: string): Promise<void> {
  const folder = process.env.SVC_SHOTS;
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}

test("fifteen calls are seen on one page, and approved with three presses, in their order", async () => {
  const ids: string[] = [];
  for (let at = 1; at <= CALLS; at += 1) ids.push(await ask(at === 9 ? "fail nine" : `step ${at}`));
  await page.goto(`${page.url()}inbox`);
  await keepShot("inbox");
  expect(await judgeLooks(page)).toEqual([]);
  await page.getByRole("link", { name: `See all ${CALLS} of “Step”` }).click();
  await keepShot("together");
  expect(await judgeLooks(page)).toEqual([]);
  expect(await page.locator(".arguments .text").allTextContents()).toEqual(
    ids.map((_, at) => (at === 8 ? "fail nine" : `step ${at + 1}`)),
  );
  // Enter on a box, and in the field of the reason, presses nothing.
  await page.getByRole("checkbox").first().press("Enter");
  await page.getByText("Decline the chosen calls").first().click();
  await page.getByLabel("Reason for the agents").press("Enter");
  expect(page.url()).toContain("/inbox/together");
  expect(await Promise.all(ids.map(statusOf))).toEqual(ids.map(() => "pending"));
  await page.getByRole("checkbox").nth(1).uncheck();
  await page.getByRole("button", { name: "Approve the chosen calls" }).click();
  await expect.poll(() => titles().length).toBe(8);
  const notice = page.locator("#notice");
  await expect.poll(() => notice.textContent(), { timeout: 15_000 }).toContain("Waiting again");
  expect(await notice.textContent()).toContain("Approved: 14. Done: 7. Failed: 1.");
  expect(titles()).not.toContain("step 2");
  await keepShot("notice");
  expect(await judgeLooks(page)).toEqual([]);
});

test("a call is edited on a phone, and a mistake in it is shown beside the field", async () => {
  const id = await ask("mistkae");
  await page.goto(`${page.url()}inbox/${id}`);
  await page.getByText("Edit, and approve").click();
  const field = page.getByLabel("Arguments");
  await field.fill('{ "title": 3 }');
  await page.getByRole("button", { name: "Approve as edited" }).click();
  await keepShot("refused-edit");
  expect(await judgeLooks(page)).toEqual([]);
  expect(await page.getByRole("alert").textContent()).toContain("Nothing was changed or approved.");
  await page.getByLabel("Arguments").fill('{ "title": "mistake" }');
  await page.getByRole("button", { name: "Approve as edited" }).click();
  await expect.poll(() => statusOf(id)).toBe("done");
  expect(titles()).toEqual(["mistake"]);
  await page.reload();
  await keepShot("edited");
  expect(await judgeLooks(page)).toEqual([]);
});
