import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { beforeEach, expect, test, vi } from "vitest";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { deliverMail } from "../../../service/flows/mailbox.ts";
import { call, execute } from "../../../service/http-calls.ts";
import { callTool } from "../../../service/mcp/mcp-calls.ts";
import { judgeLooks } from "../chromium.ts";
import { tabTo } from "../keyboard.ts";
import { useDesk } from "../sign-in/desk.ts";

/** All kinds of callers wait in the inbox of an owner with a phone. */

vi.setConfig({ testTimeout: 180_000 });

const CHILD = fileURLToPath(new URL("./agent-child.ts", import.meta.url));
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const PHONE = { colorScheme: "dark", width: 390 } as const;

const desk = useDesk();
let service: TestService;
let page: Page;
/** Milliseconds by which the clock of the service is ahead. */
let ahead: number;

beforeEach(async () => {
  ahead = 0;
  service = desk.keep(await startTestService({ approvals: "owner", now: () => Date.now() + ahead }));
  page = await desk.openPage(service, PHONE);
  await page.clock.install();
  await page.goto(`${page.url()}inbox`);
});

/** Lets the page look for what is new. */
const lookAgain = () => page.clock.runFor(10_000);

async function runAgent(tool: string, args: object): Promise<{ status: string }> {
  const words = [CHILD, service.url, service.apiKey, tool, JSON.stringify(args)];
  const { stdout } = await promisify(execFile)(process.execPath, words);
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
}

const callByMcp = (title: string) =>
  callTool(service, "svc.execute", {
    integration_id: "notes",
    action_id: "create_page",
    input: { title, body: "text" },
    confirm: true,
  });
const readApproval = async (id: string) =>
  (await call(`${service.url}/api/approvals/${id}`, { key: service.apiKey })).json;
const waitForRow = async (text: string) => {
  await expect
    .poll(async () => {
      await lookAgain();
      return page.getByText(text).count();
    })
    .toBeGreaterThan(0);
};

test("an agent, a flow and an MCP client wait; they are approved, declined with a reason, and expire", async () => {
  await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
  expect(await judgeLooks(page)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 844 });
  // Gone when the page is loaded again.
  await page.evaluate("window.isSamePage = true");
  const agent = runAgent("notes_create_page", { title: "By the agent", body: "# Plan\ntext" });
  await waitForRow('Create the page "By the agent"');
  expect(await page.getByRole("status").first().textContent()).toBe("1 new request");
  const held = await callByMcp("By a client");
  await deliverMail(service.dataDir, [{ from: "Ada <ada@example.org>", subject: "Quote", text: "Keep it?" }]);
  await call(`${service.url}/api/flows/start`, {
    method: "POST",
    key: service.apiKey,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ flowTemplate: "mail_to_notes_tasks", input: { notionParent: "Tasks" } }),
  });
  await waitForRow("Waiting for you: 3");
  expect(await page.evaluate("window.isSamePage")).toBe(true);
  expect(await page.title()).toBe("Inbox (3) · svc");
  expect(await judgeLooks(page)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 844 });

  // The agent's call, with the keyboard alone.
  const list = page.url();
  await tabTo(page, "Review Create a page");
  await tabTo(page, "Review Create a page");
  await page.keyboard.press("Enter");
  await page.getByText("# Plan").first().waitFor();
  expect(await judgeLooks(page)).toEqual([]);
  await tabTo(page, "Approve");
  await page.keyboard.press("Enter");
  await page.getByText("Approved. The call runs now.").waitFor();
  expect(await agent).toMatchObject({ status: "succeeded" });
  await expect
    .poll(async () => {
      await page.clock.runFor(2_000);
      return page.locator("#state").textContent();
    })
    .toContain("Approved and run");

  // The client's call gets a no with its reason.
  await page.goto(list);
  await page.getByRole("listitem").filter({ hasText: "By a client" }).getByText("Review").click();
  await page.getByLabel("Reason for the agent").fill("Not on a Sunday.");
  await page.clock.runFor(60_000);
  expect(await page.getByLabel("Reason for the agent").inputValue()).toBe("Not on a Sunday.");
  await page.getByRole("button", { name: "Decline" }).click();
  await page.getByText("Reason: Not on a Sunday.").waitFor();
  const { id } = held.structuredContent.approval;
  expect((await readApproval(id)).approval).toMatchObject({ status: "declined", reason: "Not on a Sunday." });
  expect(JSON.stringify(await callByMcp("By a client"))).toContain("Not on a Sunday.");
  await page.getByRole("link", { name: "See it in the log" }).click();
  await page.getByRole("heading", { name: "Decision" }).waitFor();
  expect(await judgeLooks(page)).toEqual([]);

  // The flow goes on.
  await page.goto(list);
  await page.getByRole("listitem").filter({ hasText: "A flow" }).getByText("Review").click();
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByText(/^Approved\. The flow /).waitFor();
  await expect.poll(() => readdir(join(service.dataDir, "notes", "Tasks")).catch(() => [])).toHaveLength(1);

  // Nobody decides about this one.
  await page.goto(list);
  const late = (await callByMcp("Too late")).structuredContent.approval.id;
  await waitForRow("Too late");
  ahead = 25 * 60 * 60_000;
  await waitForRow("Nothing waits for you");
  expect(await page.locator("#requests").getByRole("listitem").filter({ hasText: "Too late" }).count()).toBe(0);
  expect((await readApproval(late)).approval.status).toBe("expired");
  const titles = (await service.effects()).map(({ arguments: args }) => args.title);
  expect(titles.filter((title) => String(title).startsWith("By") || title === "Too late")).toEqual(["By the agent"]);
});

test("what is new moves neither the focus nor a choice, and several that were opened are approved at once", async () => {
  const put = (title: string) => execute(service, "notes_create_page", { arguments: { title, body: "text" } });
  const list = page.url();
  const ids = [];
  for (const title of ["One", "Two"]) ids.push((await put(title)).json.error.approval.id);
  for (const id of ids) {
    await page.goto(`${list}/${id}`);
    await page.getByRole("button", { name: "Approve", exact: true }).waitFor();
  }
  await page.goto(list);
  for (const box of await page.getByRole("checkbox").all()) {
    await box.focus();
    await page.keyboard.press("Space");
  }
  const focused = () => page.evaluate<string>("document.activeElement.closest('li')?.id");
  const before = await focused();
  expect(before).toBe(ids[0]);
  await put("Three");
  await waitForRow('Create the page "Three"');
  expect(await focused()).toBe(before);
  expect(await page.getByRole("checkbox", { checked: true }).count()).toBe(2);
  expect(await page.getByRole("checkbox").count()).toBe(2);
  await page.getByRole("button", { name: "Approve the chosen calls" }).click();
  await page.getByText("Approved: 2.").waitFor();
  const titles = async () => (await service.effects()).map(({ arguments: args }) => args.title).sort();
  await expect.poll(titles).toEqual(["One", "Two"]);
});

test("a picture is shown from its own address, and the page of a stranger stays text", async () => {
  const list = page.url();
  const hold = async (name: string, mimetype: string, bytes: Buffer): Promise<string> => {
    const md5 = createHash("md5").update(bytes).digest("hex");
    const file = { pointer: "local:1", name, mimetype, md5, dataBase64: bytes.toString("base64") };
    const args = { folder: "Files", file: { name, mimetype, s3key: "local:1" } };
    return (await execute(service, "drive_upload_file", { arguments: args, files: [file] })).json.error.approval.id;
  };
  const errors: string[] = [];
  page.on("console", (message) => errors.push(message.text()));
  await page.goto(`${list}/${await hold("dot.png", "image/png", PNG)}`);
  await page.getByRole("img", { name: "Preview of dot.png" }).waitFor();
  await expect.poll(() => page.evaluate("document.querySelector('.picture img').naturalWidth")).toBe(1);
  expect(await judgeLooks(page)).toEqual([]);
  const html = Buffer.from("<h2>Approve?</h2><img src=x onerror='document.title=1'><script>document.title=2</script>");
  await page.goto(`${list}/${await hold("page.html", "text/html", html)}`);
  await page.getByText("Text of page.html").click();
  await page.locator(".diff").getByText("<h2>Approve?</h2><img src=x").waitFor();
  await page.locator("details[open]").getByText("<h2>Approve?</h2><img src=x").waitFor();
  expect(await page.title()).toBe("Save a file · svc");
  expect(errors.filter((text) => /Content Security Policy|Refused/.test(text))).toEqual([]);
});
