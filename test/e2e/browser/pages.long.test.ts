import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LIVE_SCRIPT } from "../../../src/service/http/pages/live.ts";
import { LOCAL_TIMES_SCRIPT } from "../../../src/service/http/pages/local-times.ts";
import { SESSION_SCRIPT } from "../../../src/service/http/session-path.ts";
import { TRIGGER_KINDS } from "../../../src/service/triggers/trigger.ts";
import { bootstrapStartReplySchema, pairStartReplySchema } from "../../../src/shared/wire/registration.ts";
import { post } from "../../service/http-calls.ts";
import { findBarriers, LOOKS, type Look, launchChromium, measureOverflow, openWindow, signIn } from "./chromium.ts";
import { startUsedService, type UsedService } from "./dashboard-service.ts";

let browser: Browser;
let service: UsedService;
/** Addresses of all pages by name. */
const pages = new Map<string, string>();

beforeAll(async () => {
  browser = await launchChromium();
  service = await startUsedService();
  const { url } = service;
  const device = pairStartReplySchema.parse(
    (await post(`${url}/api/plugin/pair/start`, { deviceLabel: "Kitchen laptop", client: "cli" })).json,
  );
  const installer = bootstrapStartReplySchema.parse(
    (await post(`${url}/api/installer/bootstrap-sessions`, { client_label: "Claude Code", hostname: "x".repeat(80) }))
      .json,
  );
  const connections = await service.service.connections.list();
  const idOf = (label: string) => connections.find((connection) => connection.label === label)?.id ?? "";
  const paths = {
    home: "/",
    inbox: "/inbox",
    "decided calls": "/inbox/decided",
    devices: "/devices",
    connections: "/connections",
    "connection to renew": `/connections/${idOf("Team vault")}`,
    "healthy connection": `/connections/${idOf("Local drive")}`,
    "connections of a search": "/connections?find=mail",
    connect: "/connect/mail",
    reconnect: `/connections/${idOf("Read-only vault")}/reconnect`,
    rules: "/rules?tool=mail_send_message",
    flows: "/flows",
    templates: "/flows/templates",
    "start of a flow": "/flows/templates/notes_reminder",
    "flow that waits": `/flows/${service.flows.waiting}`,
    "flow that failed": `/flows/${service.flows.failed}`,
    "flow that is done": `/flows/${service.flows.done}`,
    triggers: "/triggers",
    "choice of a new trigger": "/triggers/new",
    "new trigger": "/triggers/new?kind=mail&does=flow/notes_reminder",
    people: "/people",
    "own browsers": "/sessions",
    log: "/log?status=failed",
    "log of a flow": `/log?flow=${service.flows.done}`,
    "missing page": "/nothing-here",
  };
  for (const [name, path] of Object.entries(paths)) pages.set(name, url + path);
  pages.set("device approval", device.pairUrl);
  pages.set("installer approval", installer.approval_url);
});
afterAll(async () => {
  await browser?.close();
  await service?.close();
});

async function openSignedIn(look: Look): Promise<Page> {
  const page = await openWindow(browser, look);
  await signIn(page, await service.service.signInUrl());
  return page;
}

/** What is wrong with the page that is open. */
async function judge(page: Page, name: string): Promise<string[]> {
  const overflow = await measureOverflow(page);
  const barriers = await findBarriers(page);
  return [...barriers, ...(overflow > 0 ? [`${overflow} pixels too wide`] : [])].map((text) => `${name}: ${text}`);
}

const APPS = ["calendar", "contacts", "feeds", "drive", "notes"] as const;

/** The forms of apps, with every group open, and after they were sent empty. */
async function judgeConnectForms(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const app of APPS) {
    await page.goto(`${service.url}/connect/${app}`);
    found.push(...(await judge(page, `first form of ${app}`)));
    await page.goto(`${service.url}/connect/${app}?all`);
    for (const group of await page.locator("details.more").all()) await group.locator("summary").click();
    found.push(...(await judge(page, `form of ${app}`)));
    await page.getByRole("button", { name: /^Connect / }).click();
    await page.getByRole("alert").waitFor();
    found.push(...(await judge(page, `form of ${app} with problems`)));
  }
  return found;
}

const DEEDS = ["flow/notes_reminder", "wake", "post"] as const;

/** The forms of triggers, new and sent empty, and triggers that are on, paused, and paused as their app cannot be asked. */
async function judgeTriggers(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const kind of TRIGGER_KINDS) {
    for (const does of DEEDS) {
      await page.goto(`${service.url}/triggers/new?kind=${kind}&does=${encodeURIComponent(does)}`);
      found.push(...(await judge(page, `trigger ${kind} ${does}`)));
      await page.getByRole("button", { name: "Make the trigger" }).click();
      await page.getByRole("alert").waitFor();
      found.push(...(await judge(page, `trigger ${kind} ${does} with problems`)));
    }
  }
  await page.goto(`${service.url}/triggers/new?kind=mail&does=post`);
  await page.getByLabel("Name", { exact: true }).fill("Long".repeat(20));
  await page.getByLabel("Address", { exact: true }).fill(`https://example.org/${"in".repeat(100)}`);
  await page.getByRole("button", { name: "Make the trigger" }).click();
  await page.getByRole("heading", { name: "The trigger is made" }).waitFor();
  found.push(...(await judge(page, "trigger that is made")));
  await page.getByRole("link", { name: "Go on" }).click();
  await page.getByText("Delete this trigger").click();
  found.push(...(await judge(page, "trigger")));
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("Nothing happens until you resume it.").waitFor();
  found.push(...(await judge(page, "trigger that is paused")));
  const { connections } = service.service;
  const [mail] = await connections.list("mail");
  await connections.update(mail?.id ?? "", { state: "reauth_required" });
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByText("It stays paused").waitFor();
  found.push(...(await judge(page, "trigger whose app cannot be asked")));
  await connections.update(mail?.id ?? "", { state: "healthy" });
  await page.goto(`${service.url}/triggers`);
  found.push(...(await judge(page, "triggers that there are")));
  return found;
}

test.each(LOOKS)(
  "every page is accessible and fits: $colorScheme, $width px",
  async (look) => {
    const page = await openSignedIn(look);
    const found: string[] = [];
    for (const [name, url] of pages) {
      await page.goto(url);
      found.push(...(await judge(page, name)));
    }
    await page.goto(pages.get("log") ?? "");
    await page.locator("main a[href*='/log/exe_']").first().click();
    found.push(...(await judge(page, "execution")));
    await page.goto(pages.get("connect") ?? "");
    await page.getByRole("link", { name: "Type everything yourself" }).click();
    await page.getByRole("button", { name: "Connect Mail" }).click();
    await page.getByRole("alert").waitFor();
    found.push(...(await judge(page, "form with problems")));
    await page.goto(pages.get("devices") ?? "");
    await page.locator("summary").first().click();
    found.push(...(await judge(page, "device about to be revoked")));
    found.push(...(await judgeConnectForms(page)), ...(await judgeTriggers(page)));
    await page.context().clearCookies();
    const stranger = {
      "session that ended": pages.get("home") ?? "",
      "sign-in first": pages.get("device approval") ?? "",
      "sign-in": await service.service.signInUrl(),
      "dead link": `${service.url}/sign-in?token=none`,
    };
    for (const [name, url] of Object.entries(stranger)) {
      await page.goto(url);
      for (const summary of await page.locator("summary").all()) await summary.click();
      found.push(...(await judge(page, name)));
    }
    expect(found).toEqual([]);
    await page.context().close();
  },
  300_000,
);

describe("this check", () => {
  test("sees a barrier and a page that is too wide", async () => {
    const page = await openWindow(browser, { colorScheme: "light", width: 320 });
    await page.setContent(
      '<html lang="en"><title>x</title><main><h1>x</h1><input><p style="width:2000px">x</p></main>',
    );
    const found = await judge(page, "bad");
    expect(found.some((line) => line.startsWith("bad: label"))).toBe(true);
    expect(found.some((line) => line.endsWith("pixels too wide"))).toBe(true);
    await page.context().close();
  });
});

test("no page asks another host for anything, or has another script than ours", async () => {
  const page = await openSignedIn({ colorScheme: "light", width: 1280 });
  const foreign: string[] = [];
  page.on("request", (request) => {
    if (!request.url().startsWith(service.url)) foreign.push(request.url());
  });
  const errors: string[] = [];
  page.on("console", (message) => errors.push(message.text()));
  for (const url of pages.values()) {
    await page.goto(url);
    const scripts = await page.locator("script").allTextContents();
    expect([SESSION_SCRIPT, LIVE_SCRIPT, LOCAL_TIMES_SCRIPT], url).toEqual(expect.arrayContaining(scripts));
  }
  expect(foreign).toEqual([]);
  expect(errors.filter((text) => /Content Security Policy|Refused/.test(text))).toEqual([]);
  await page.context().close();
});
