import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Validator } from "@cfworker/json-schema";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { EXPORTS } from "../../../package/expected-exports.ts";
import { readJson } from "../../../package/read-package.ts";
import { closeAll, closeLater, makeFolder } from "../../calls/open-test-session.ts";
import { type HostUi, loadExample, type Message, type ModelInput, readExample } from "./host-example.ts";

/** The runtime of docs/other-runtimes.md, driven by a scripted model and a scripted human against the real service. */

const PLUGIN = "svc-agent-plugin";
/** Bytes that no text encoding keeps. */
const BYTES = Buffer.from([0x00, 0xff, 0xfe, 0x80, 0x0a]);

let service: TestService;
/** Where the human presses Approve. */
let decider: TestService;
let folder: string;
let media: string;
/** Everything the human was shown, and everything the model got. */
let shown: string[];
let seen: ModelInput[];
let say: { confirm: (text: string) => boolean | Promise<boolean>; choose: HostUi["choose"] };
let settings: Record<string, unknown>;

beforeEach(async () => {
  service = closeLater(await startTestService());
  decider = service;
  folder = await makeFolder();
  media = await makeFolder();
  shown = [];
  seen = [];
  settings = { baseUrl: service.url };
  say = { confirm: () => true, choose: async () => undefined };
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await closeAll();
});

const ui: HostUi = {
  // A settings page: defaults from the schema, the human's values over them, checked by the schema.
  async fillIn(schema) {
    const { properties } = schema as { properties: Record<string, { default?: unknown }> };
    const defaults = Object.entries(properties).filter(([, setting]) => "default" in setting);
    const values = { ...Object.fromEntries(defaults.map(([name, setting]) => [name, setting.default])), ...settings };
    expect(new Validator(schema, "2020-12").validate(values)).toMatchObject({ valid: true });
    return values;
  },
  show(text) {
    shown.push(text);
    const pairUrl = /https?:\S+\/pair\/\S+/.exec(text)?.[0];
    if (pairUrl !== undefined) void decider.decide(pairUrl);
  },
  async confirm(text) {
    shown.push(text);
    return say.confirm(text);
  },
  async choose(question, choices) {
    shown.push(JSON.stringify([question, choices]));
    return say.choose(question, choices);
  },
};

/** Starts the runtime; without `pairs` the key comes from the environment. */
async function start({ pairs = false } = {}) {
  vi.stubEnv("SVC_API_KEY", pairs ? undefined : service.apiKey);
  const runtime = await loadExample(await makeFolder());
  const host = async () => {
    const hosted = await runtime.hostPlugin(PLUGIN, { ui, folder, media });
    closeLater(hosted.toolbox);
    return hosted;
  };
  return { runtime, host, hosted: await host() };
}
type Started = Awaited<ReturnType<typeof start>>;

/** Lets the model make these calls, one per step; returns what it was told, parsed. */
async function drive({ runtime, hosted }: Started, calls: readonly [name: string, args: unknown][]) {
  const messages: Message[] = [{ role: "user", text: "Do it." }];
  const script = calls.map(([name, args]) => ({ role: "model", calls: [{ id: crypto.randomUUID(), name, args }] }));
  const model = async (input: ModelInput) => {
    seen.push(structuredClone(input));
    return script.shift() ?? { role: "model", text: "Done." };
  };
  expect(await runtime.runTurn(model, hosted, messages)).toBe("Done.");
  return messages.filter(({ role }) => role === "tool").map(({ text = "" }) => JSON.parse(text));
}

async function readAll(root: string): Promise<{ path: string; text: string }[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(files.map(async (path) => ({ path, text: await readFile(path, "latin1") })));
}

describe("the runtime of the guide", () => {
  it("is under 50 lines and takes all it calls from the package the manifest names", () => {
    const code = readExample();
    expect(code.trimEnd().split("\n").length).toBeLessThan(50);
    expect(Math.max(...code.split("\n").map((line) => line.length))).toBeLessThanOrEqual(120);
    const imports = [...code.matchAll(/^import .* from "([^"]+)"/gm)].map(([, module]) => module);
    expect(imports).toEqual(["node:fs/promises", "node:path"]);
    expect(code).not.toContain(PLUGIN);
    const used = [...code.matchAll(/\bplugin\.(?!manifest)(\w+)/g)].map(([, name]) => name);
    expect(EXPORTS["."]).toEqual(expect.arrayContaining(used));
  });

  it("pairs, reads, sends a file after a yes, does nothing after a no, and gives the key to nobody", async () => {
    await mkdir(join(media, "inbound"));
    await writeFile(join(media, "inbound/sample.bin"), BYTES);
    const started = await start({ pairs: true });
    say.confirm = (text) => !text.includes("notes_create_page");
    const [found, uploaded, declined] = await drive(started, [
      ["mail_search", { query: "is:unread" }],
      ["drive_upload_file", { folder: "Raw", file: { s3key: "media://inbound/sample.bin" } }],
      ["notes_create_page", { title: "No", body: "no" }],
    ]);

    expect(found).toMatchObject({ status: "succeeded", result: expect.anything() });
    expect(uploaded).toMatchObject({ status: "succeeded", result: { path: "Raw/sample.bin" } });
    expect(declined).toMatchObject({ status: "declined" });
    expect(await readFile(join(service.dataDir, "drive/Raw/sample.bin"))).toEqual(BYTES);
    expect((await service.effects()).map(({ toolName }) => toolName)).toEqual(["drive_upload_file"]);
    expect(shown).toEqual([
      expect.stringContaining("Pair this device: http"),
      expect.stringContaining("sample.bin, application/octet-stream, 5 bytes, md5"),
      expect.stringContaining("notes_create_page"),
    ]);

    const keyFile = join(folder, "key/credentials.json");
    const { credentials } = JSON.parse(await readFile(keyFile, "utf8"));
    expect(credentials.apiKey).toMatch(/^svc_live_./);
    const texts = [JSON.stringify(seen), ...shown];
    for (const file of await readAll(folder)) if (file.path !== keyFile) texts.push(file.text);
    for (const text of texts) expect(text.includes(credentials.apiKey), text.slice(0, 200)).toBe(false);
  });

  it("offers the model the skill, the service's actions with their schemas, and the tools of the manifest", async () => {
    const manifest = readJson("plugin.manifest.json") as { tools: { static: string[] } };
    await drive(await start(), []);
    const [input] = seen;
    expect(input?.instructions).toContain("# svc: act on the user's apps");
    const names = input?.tools.map(({ name }) => name) ?? [];
    expect(names).toEqual(expect.arrayContaining([...manifest.tools.static, "mail_search", "drive_upload_file"]));
    expect(input?.tools.find(({ name }) => name === "notes_create_page")?.schema).toMatchObject({
      properties: { title: { type: "string" } },
    });
  });

  it("pairs once, and again when its settings name another service", async () => {
    const { host } = await start({ pairs: true });
    await host();
    expect(shown).toHaveLength(1);

    const other = closeLater(await startTestService());
    settings = { baseUrl: other.url };
    decider = other;
    const { toolbox } = await host();
    expect(shown).toEqual([expect.stringContaining(service.url), expect.stringContaining(other.url)]);
    expect(toolbox.tools.length).toBeGreaterThan(11);
  });

  it("answers a call that is made again with the answer it had", async () => {
    const { hosted, host } = await start();
    const find = ({ toolbox }: typeof hosted) => toolbox.tools.find(({ name }) => name === "notes_create_page");
    const args = { title: "Once", body: "…" };
    expect(await find(hosted)?.run(args, { callId: "turn-1/call-1" })).toMatchObject({ status: "succeeded" });
    await hosted.toolbox.close();
    expect(await find(await host())?.run(args, { callId: "turn-1/call-1" })).toMatchObject({ status: "succeeded" });
    expect(await service.effects()).toHaveLength(1);
    expect(shown.filter((text) => text.includes("notes_create_page"))).toHaveLength(1);
  });

  it("shows where an app is connected, and goes on once it is", async () => {
    const started = await start();
    const [mail] = (await service.service.connections.list()).filter(({ integration }) => integration === "mail");
    if (mail === undefined) throw new Error("No mailbox is connected.");
    await service.service.connections.update(mail.id, { state: "reauth_required" });
    say.confirm = () => false;
    const [ended] = await drive(started, [["mail_search", { query: "is:unread" }]]);
    expect(ended).toMatchObject({ status: "needs_connection", connect_url: expect.stringContaining(service.url) });

    say.confirm = async () => {
      await service.service.connections.update(mail.id, { state: "healthy" });
      return true;
    };
    const [again] = await drive(started, [["mail_search", { query: "is:unread" }]]);
    expect(again).toMatchObject({ status: "succeeded" });
    expect(shown).toEqual(Array(2).fill(expect.stringContaining(`Connect mail: ${service.url}`)));
  });

  it("lets the human choose the account", async () => {
    const second = await makeFolder();
    await writeFile(join(second, "only-here.txt"), "x");
    for (const { id, integration } of await service.service.connections.list()) {
      if (integration === "drive") await service.service.connections.update(id, { isDefault: false });
    }
    await service.service.connections.add({ integration: "drive", label: "Second", settings: { folder: second } });
    const started = await start();
    say.choose = async (_question, choices) => choices.find(({ label }) => label === "Second")?.id;
    const [listed] = await drive(started, [["drive_list_files", {}]]);
    expect(listed).toMatchObject({ status: "succeeded", result: { entries: [{ path: "only-here.txt" }] } });
  });

  it("tells the model that a tool does not exist", async () => {
    const { runtime, hosted } = await start();
    const messages: Message[] = [{ role: "user", text: "Do it." }];
    const calls = [{ id: "1", name: "drive_format_disk", args: {} }];
    const script: Message[] = [
      { role: "model", calls },
      { role: "model", text: "Sorry." },
    ];
    expect(await runtime.runTurn(async () => script.shift() as Message, hosted, messages)).toBe("Sorry.");
    expect(messages[2]).toEqual({ role: "tool", id: "1", text: "There is no tool named drive_format_disk." });
  });
});
