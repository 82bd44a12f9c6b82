import { createHash, randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deliverSampleMail } from "../../../src/cli/demo/sample-content.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { launchChromium, openWindow, signIn } from "../browser/chromium.ts";
import { createState, type HostState } from "./host/isolated-state.ts";
import { connectOperator, type Operator } from "./host/operator.ts";
import { mustRunOpenClaw } from "./host/run-openclaw.ts";
import { type ScriptedModel, startScriptedModel } from "./host/scripted-model.ts";
import { configurePlugin, installPlugin, PAIR_LINK } from "./host/set-up-plugin.ts";
import { type Gateway, startGateway } from "./host/start-gateway.ts";
import { startInTerminal } from "./host/start-in-terminal.ts";
import { getProvided } from "./host/use-host.ts";

/** What a new user does, from the tarball on; each test goes on where the one before stopped. */

let browser: Browser;
let service: TestService;
let model: ScriptedModel;
let state: HostState;
let gateway: Gateway;
let operator: Operator;

beforeAll(async () => {
  browser = await launchChromium();
  service = await startTestService();
  await deliverSampleMail(join(service.dataDir, "mail"));
  model = await startScriptedModel();
  state = await createState({ modelUrl: model.url });
});

afterAll(async () => {
  await operator?.close();
  await gateway?.stop();
  await model?.close();
  await service?.close();
  await browser?.close();
  await state?.remove();
});

test("installs from the packed tarball", async () => {
  await installPlugin(state, getProvided().tarball);
  await configurePlugin(state, { baseUrl: service.url });
}, 300_000);

test("pairs through the host's own sign-in, with a click on the approval page", async () => {
  const login = startInTerminal(state, ["models", "auth", "login", "--provider", "svc", "--method", "pair"]);
  await login.waitFor(PAIR_LINK);
  const [, code] = await login.waitFor(/\b([A-Z0-9]{4}-[A-Z0-9]{4})\b/);
  // Anew, as a terminal may pass a line on in pieces, and the code comes after the link.
  const [link] = await login.waitFor(PAIR_LINK);
  const page = await openWindow(browser, { colorScheme: "light", width: 390 });
  await signIn(page, await service.service.signInUrl());
  await page.goto(link);
  expect((await page.locator(".code strong").textContent())?.trim()).toBe(code);
  await page.getByRole("button", { name: "Approve device" }).click();
  await page.getByRole("heading", { name: "Device approved" }).waitFor();
  await page.context().close();
  expect(await login.done, login.output()).toBe(0);
  expect(login.output()).not.toMatch(KEY);
  expect(await readFile(state.configPath, "utf8")).not.toMatch(KEY);
}, 300_000);

test("gives each action a tool after it has shown them", async () => {
  const shown = await mustRunOpenClaw(state, ["svc", "sync", "--yes"]);
  expect(shown).toMatch(/^ {2}drive_upload_file +\(write\)$/m);
  expect(shown).toMatch(/^ {2}mail_search +\(read\)$/m);
}, 300_000);

test("an agent reads mail, then a person lets it send an attachment to the drive", async () => {
  gateway = await startGateway(state);
  operator = await connectOperator(gateway, state);
  let reference = "";
  model.play(({ words, results }) => {
    reference = /media attached: (\S+)/.exec(words)?.[1] ?? reference;
    if (results.length === 0) return { tool: "mail_search", args: { query: "is:unread" } };
    return results.length === 1 ? upload(reference) : "Saved.";
  });
  const turn = await operator.chat("Read my mail and keep this where we both find it.", { attachments: [ATTACHMENT] });
  const card = await operator.answerCard("allow-once");
  expect(await turn.done).toBe("Saved.");
  expect(card).toMatchObject({ pluginId: expect.stringMatching(/^svc/), toolName: "drive_upload_file" });
  expect(String(card.description)).toContain("quote.pdf, application/pdf, 200,009 bytes");
  const [mail] = model.requests.at(-1)?.results ?? [];
  expect(mail).toContain("The quote for the terrace");
  expect(await service.effects()).toMatchObject([{ toolName: "drive_upload_file", status: "succeeded" }]);
  expect(await readDrive()).toEqual([["quote.pdf", sha256(ATTACHMENT.bytes)]]);
}, 300_000);

test("the same, declined by the person, changes nothing", async () => {
  const before = await service.effects();
  model.play(({ words, results }) =>
    results.length === 0 ? upload(/media attached: (\S+)/.exec(words)?.[1] ?? "") : "Not saved.",
  );
  const turn = await operator.chat("Keep this too.", { sessionKey: "declined", attachments: [ATTACHMENT] });
  await operator.answerCard("deny");
  expect(await turn.done).toBe("Not saved.");
  expect(await service.effects()).toEqual(before);
  expect(await readDrive()).toHaveLength(1);
  expect(model.requests.at(-1)?.results.at(-1)).toMatch(/declined|denied/i);
});

test("no prompt, log or transcript holds the key", async () => {
  for (const { raw } of [...model.requests, ...model.asides]) expect(raw).not.toMatch(KEY);
  expect(gateway.output()).not.toMatch(KEY);
  expect(JSON.stringify(operator.events)).not.toMatch(KEY);
});

test("the host's own checks find nothing wrong with the plugin once it is on the list of allowed ones", async () => {
  await state.editConfig((config) => {
    Object.assign(config.plugins as object, { allow: ["svc", "svc-actions"] });
  });
  expect(await mustRunOpenClaw(state, ["plugins", "doctor"])).toMatch(/checks passed/);
  const { findings } = JSON.parse(await mustRunOpenClaw(state, ["security", "audit", "--deep", "--json"])) as Audit;
  expect(findings.filter((finding) => JSON.stringify(finding).includes("svc"))).toEqual([]);
}, 300_000);

interface Audit {
  readonly findings: readonly { readonly checkId: string }[];
}

/** An API key of the service. */
const KEY = /svc_live_\w{8}/;

const ATTACHMENT = {
  fileName: "quote.pdf",
  mimeType: "application/pdf",
  bytes: Buffer.concat([Buffer.from("%PDF-1.7\n"), randomBytes(200_000)]),
};

function upload(reference: string) {
  return { tool: "drive_upload_file", args: { folder: "Quotes", file: { s3key: reference, name: "quote.pdf" } } };
}

/** Names and digests of the files in the folder that the agent saves to. */
async function readDrive(): Promise<[string, string][]> {
  const folder = join(service.dataDir, "drive/Quotes");
  const names = await readdir(folder);
  return Promise.all(
    names.map(async (name): Promise<[string, string]> => [name, sha256(await readFile(join(folder, name)))]),
  );
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
