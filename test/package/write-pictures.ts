import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { SvcClient } from "../../src/plugin/client/client.ts";
import { startTestService, type TestService } from "../../src/testing.ts";
import { askAboutHello } from "../docs/ask-about-hello.ts";
import { launchChromium, openWindow, signIn } from "../e2e/browser/chromium.ts";
import { openScreen } from "../hostile/terminal-screen.ts";
import { closeAll, closeLater } from "../plugin/calls/open-test-session.ts";
import { deliverMail } from "../service/flows/mailbox.ts";
import { execute } from "../service/http-calls.ts";
import { PACKAGE_ROOT } from "./read-package.ts";

// Run with `npx node test/package/write-pictures.ts` after a change of what the pictures of the docs show.
const IMAGES = join(PACKAGE_ROOT, "docs/images");

/** The card of a real call in a terminal, as an owner sees it. */
async function drawCard(browser: Browser, service: TestService): Promise<void> {
  const request = await askAboutHello(service);
  const screen = await openScreen(request, { columns: 80, rows: 24 });
  const rows = screen.look().filter((row) => row.trim() !== "");
  screen.close();
  const page = await browser.newPage({ viewport: { width: 800, height: 400 } });
  const style =
    "margin:0;padding:22px 26px;background:#15171c;color:#e2e4e8;font:16px/23px 'DejaVu Sans Mono',monospace";
  await page.setContent(`<body style="margin:0"><pre style="${style}"></pre>`);
  await page.evaluate(`document.querySelector("pre").textContent = ${JSON.stringify(rows.join("\n"))}`);
  await page.locator("pre").screenshot({ path: join(IMAGES, "approval-card.png") });
}

/** Has things done by an agent, and leaves two requests to wait. `approve` answers as the owner in a browser. */
async function use(service: TestService, approve: (id: string) => Promise<void>): Promise<void> {
  await mkdir(join(service.dataDir, "drive/Quotes"), { recursive: true });
  await writeFile(join(service.dataDir, "drive/Quotes/terrace.txt"), "24 square metres, oak\n");
  const quote = {
    from: "Ada Brunner <ada@example.org>",
    subject: "The quote for the terrace",
    text: "Will you keep it?",
  };
  await deliverMail(service.dataDir, [quote]);
  await service.createKey("Kitchen laptop");
  const keyed = { url: service.url, apiKey: await service.createKey("Claude Code on desk") };
  const ask = async (tool: string, args: Record<string, unknown>): Promise<string> =>
    (await execute(keyed, tool, { arguments: args })).json.error?.approval?.id;
  await ask("drive_read_file", { path: "Quotes/terrace.txt" });
  await approve(await ask("notes_create_page", { title: "Groceries", body: "Milk" }));
  await ask("notes_update_page", { page_id: "Groceries.md", title: "Groceries", append: "Bread" });
  const client = new SvcClient({ baseUrl: service.url, apiKey: keyed.apiKey });
  const input = { notionParent: "Tasks" };
  await client.startFlow({ flowTemplate: "mail_to_notes_tasks", input, triggerType: "agent" });
  await client.close();
}

async function drawDashboard(browser: Browser, service: TestService): Promise<void> {
  const page = await openWindow(browser, { colorScheme: "light", width: 1000 });
  await signIn(page, await service.service.signInUrl());
  await page.getByRole("button", { name: "Put away" }).click();
  await use(service, async (id) => {
    await page.goto(`${service.url}/inbox/${id}`);
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    await page.getByText("Approved and run").first().waitFor();
  });
  await page.setViewportSize({ width: 1000, height: 1260 });
  await page.goto(service.url);
  await page.getByText("Waiting for you").waitFor();
  await page.screenshot({ path: join(IMAGES, "dashboard.png") });
}

const browser = await launchChromium();
try {
  await drawCard(browser, closeLater(await startTestService()));
  await drawDashboard(browser, closeLater(await startTestService({ approvals: "owner" })));
} finally {
  await browser.close();
  await closeAll();
}
