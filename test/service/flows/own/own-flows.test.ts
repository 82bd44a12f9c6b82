import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { readFences } from "../../../docs/read-page.ts";
import { openStoreOf } from "../../find-store.ts";
import { openBrowser } from "../../http/pages/browser.ts";
import { call, type Reply } from "../../http-calls.ts";
import { deliverMail } from "../mailbox.ts";

/** The template of docs/flows.md. */
const [KEEP_MAIL = ""] = readFences("docs/flows.md").flatMap(({ language, code }) => (language === "json" ? code : []));

let service: TestService;
let clock: number;
beforeEach(async () => {
  clock = Date.parse("2026-11-20T10:00:00Z");
  service = await startTestService({ now: () => clock });
  await deliverMail(service.dataDir, [
    { from: "Ada <ada@example.org>", subject: "Quote", text: "Please answer." },
    { from: "Ada <ada@example.org>", subject: "Lunch {{inputs.folder}}", text: "Today?" },
    { from: "Ben <ben@example.org>", subject: "Invoice", text: "It is due." },
  ]);
});
afterEach(() => service.close());

async function write(key: string, content: unknown): Promise<void> {
  const folder = join(service.dataDir, "templates");
  await mkdir(folder, { recursive: true });
  const text = typeof content === "string" ? content : JSON.stringify(content);
  await writeFile(join(folder, `${key}.json`), text);
}
const get = async (path: string) => (await call(`${service.url}${path}`, { key: service.apiKey })).json;
function send(path: string, body: unknown = {}): Promise<Reply> {
  const headers = { "content-type": "application/json" };
  return call(`${service.url}${path}`, { method: "POST", key: service.apiKey, headers, body: JSON.stringify(body) });
}
/** The flow once it has come as far as it does by itself: an answer may come before. */
async function settle(reply: Reply, path: string) {
  await expect.poll(async () => (await get(path)).flow.status).not.toMatch(/pending|running/);
  return { ...reply, json: { ...reply.json, ...(await get(path)) } };
}
async function start(flowTemplate: string, input: unknown = {}) {
  const reply = await send("/api/flows/start", { flowTemplate, input });
  if (reply.json.flowId === undefined) return reply;
  const path = `/api/flows/${reply.json.flowId}`;
  const { json } = await settle(reply, path);
  return { ...reply, json: { ...reply.json, flow: { flow: json.flow, steps: json.steps } } };
}
/** Approves or resumes a flow; it as it stands then. */
async function press(id: string, verb: "approve" | "resume") {
  return settle(await send(`/api/flows/${id}/${verb}`), `/api/flows/${id}`);
}
const listPages = (folder: string) => readdir(join(service.dataDir, "notes", folder)).catch(() => []);

describe("the template of the documentation", () => {
  beforeEach(() => write("keep-mail", KEEP_MAIL));

  test("is listed with its inputs", async () => {
    const { templates } = await get("/api/flows/templates");
    expect(templates.at(-1)).toMatchObject({
      key: "keep-mail",
      name: "Keep mail of one sender",
      inputSchema: { required: ["sender"], properties: { mailConnectionId: {}, notesConnectionId: {} } },
    });
  });

  test("shows exactly the calls that it then makes, and leaves out what the owner leaves out", async () => {
    const { json } = await start("keep-mail", { sender: "ada" });
    const [, ask] = json.flow.steps;
    expect(json.flow.flow).toMatchObject({ status: "waiting", name: "Keep mail of one sender" });
    expect(ask).toMatchObject({ status: "waiting", items: "calls" });
    expect(ask.output.message).toBe("Keep these messages from ada in “Mail”?");
    expect(ask.output.accounts).toMatchObject([{ app: "notes", account: "Local notes" }]);
    const titles = ask.output.calls.map(({ title }: { title: string }) => title).sort();
    expect(titles).toEqual(["Create a page: Lunch {{inputs.folder}}", "Create a page: Quote"]);
    expect(await listPages("Mail")).toEqual([]);
    const index = ask.output.calls.findIndex(({ title }: { title: string }) => title.endsWith("Quote"));
    const browser = openBrowser();
    await browser.open(await service.service.signInUrl());
    const page = await browser.open(`${service.url}/flows/${json.flowId}`);
    const form = page.text.split("/approve")[1] ?? "";
    const held = [...form.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)].map(
      ([, name = "", value = ""]): [string, string] => [name, value],
    );
    await browser.submit(`${service.url}/flows/${json.flowId}/approve`, [...held, ["item", String(index)]]);
    await expect.poll(async () => (await get(`/api/flows/${json.flowId}`)).flow.status).toBe("completed");
    expect(await listPages("Mail")).toEqual(["Quote.md"]);
    const kept = await readFile(join(service.dataDir, "notes", "Mail", "Quote.md"), "utf8");
    expect(kept).toContain("From Ada <ada@example.org>: Please answer.");
    const [made] = (await service.effects()).map(({ toolName }) => toolName);
    expect(made).toBe("notes_create_page");
  });

  test("asks nothing when there is nothing to do", async () => {
    const { json } = await start("keep-mail", { sender: "nobody" });
    const steps = json.flow.steps.map(({ status }: { status: string }) => status);
    expect([json.flow.flow.status, ...steps]).toEqual(["completed", "completed", "skipped", "skipped"]);
  });

  test("refuses inputs that do not fit, by their names", async () => {
    expect((await start("keep-mail")).json.error).toBe("`input.sender` is required.");
    expect((await start("keep-mail", { sender: "" })).json.error).toMatch(
      /^`input.sender` must be: string of at least/,
    );
    expect((await start("keep-mail", { sender: "a", form: 1 })).json.error).toMatch(/`input.form` is not an input/);
    expect((await start("keep-mail", { sender: "a", notesConnectionId: "con_x" })).json.error).toMatch(
      /`input.notesConnectionId` names no connection of notes/,
    );
  });

  test("a flow keeps the template it was started with", async () => {
    const { flowId } = (await start("keep-mail", { sender: "ben", folder: "Kept" })).json;
    const changed = { ...JSON.parse(KEEP_MAIL), name: "Other", steps: JSON.parse(KEEP_MAIL).steps.slice(0, 1) };
    await write("keep-mail", changed);
    expect((await start("keep-mail", { sender: "ben" })).json.flow.steps).toHaveLength(1);
    await rm(join(service.dataDir, "templates"), { recursive: true });
    expect((await start("keep-mail", { sender: "ben" })).status).toBe(400);
    expect((await get(`/api/flows/${flowId}`)).flow.name).toBe("Keep mail of one sender");
    expect((await press(flowId, "approve")).json.flow.status).toBe("completed");
    expect(await listPages("Kept")).toEqual(["Invoice.md"]);
  });

  test("exists for a limited key only with all its tools", async () => {
    const key = await service.createKey("Reader", { levels: ["read"] });
    const { json } = await call(`${service.url}/api/flows/templates`, { key });
    expect(json.templates.map(({ key: one }: { key: string }) => one)).not.toContain("keep-mail");
  });
});

describe("steps of own templates", () => {
  const facts = { name: "T", description: "T." };

  test("wait for seconds that an input gives, or until its time", async () => {
    const inputs = { type: "object", properties: { seconds: { type: "integer", default: 60 } } };
    const look = { key: "look", call: "mail_search", arguments: { query: "is:unread", limit: 1 } };
    await write("wait", { ...facts, inputs, steps: [{ key: "w", wait: { seconds: "{{inputs.seconds}}" } }, look] });
    const { flowId, flow } = (await start("wait")).json;
    expect(flow.steps[0].output.waitUntil).toBe("2026-11-20T10:01:00.000Z");
    clock += 60_000;
    expect((await press(flowId, "resume")).json.flow.status).toBe("completed");
    await write("until", {
      ...facts,
      inputs,
      steps: [{ key: "w", wait: { until: "{{inputs.seconds}} o'clock" } }, look],
    });
    const failed = (await start("until")).json.flow;
    expect(failed.steps[0]).toMatchObject({ status: "failed", error: { code: "flow_step_impossible" } });
    expect(failed.steps[0].error.message).toContain("is no time");
  });

  test("that cannot run say why", async () => {
    const steps = [
      { key: "look", call: "mail_search", arguments: { query: "is:unread", limit: 1 } },
      { key: "each", call: "mail_search", each: "{{steps.look.more}}", arguments: { query: "x" } },
    ];
    await write("odd", { ...facts, steps });
    const { json } = await start("odd");
    expect(json.flow.flow.status).toBe("failed");
    expect(json.flow.steps[1].error.message).toBe(
      'The step "each" cannot run: {{steps.look.more}} is no list. Correct the template.',
    );
  });

  test("call a read once per entry and collect what came out", async () => {
    const steps = [
      { key: "look", call: "mail_search", arguments: { query: "is:unread", limit: 5 } },
      {
        key: "each",
        call: "mail_search",
        each: "{{steps.look.messages}}",
        arguments: { query: "subject:{{item.subject}}" },
      },
    ];
    await write("each", { ...facts, steps });
    const { json } = await start("each");
    expect(json.flow.steps[1].output).toHaveLength(3);
  });

  test("a tool that has become a write since is not run unasked, also after another approval", async () => {
    const steps = [
      { key: "ask", approve: "Keep?" },
      { key: "keep", call: "notes_create_page", arguments: { title: "A" } },
      { key: "more", call: "notes_search", arguments: { query: "A" } },
    ];
    await write("grown", { ...facts, steps });
    const { flowId } = (await start("grown")).json;
    const store = await openStoreOf(service.dataDir);
    const { template } = await store.selectFrom("flows").select("template").executeTakeFirstOrThrow();
    // As if the app's search were one day a write.
    const grown = (template ?? "")
      .replaceAll("notes_search", "notes_delete_page")
      .replace('{"query":"A"}', '{"page_id":"A.md","title":"A"}');
    await store.updateTable("flows").set({ template: grown }).execute();
    await store.destroy();
    const { json } = await press(flowId, "approve");
    expect(json.flow.status).toBe("failed");
    expect(json.steps[2].error).toMatchObject({ code: "confirmation_required" });
    expect(await listPages("")).toContain("A.md");
  });

  describe("a call that replaces something", () => {
    const plan = { key: "ask", approve: "Tidy up?" };
    const move = (path: string) => ({
      key: "move",
      call: "drive_move_file",
      arguments: { path, destination: "Deed.txt", if_exists: "replace" },
    });
    const drive = (name: string) => join(service.dataDir, "drive", name);
    beforeEach(async () => {
      await mkdir(join(service.dataDir, "drive"), { recursive: true });
      await writeFile(drive("junk.txt"), "junk");
    });
    async function openPage(id: string): Promise<string> {
      const browser = openBrowser();
      await browser.open(await service.service.signInUrl());
      return (await browser.open(`${service.url}/flows/${id}`)).text;
    }

    test("says so before it is approved, and is done as it was shown", async () => {
      await writeFile(drive("Deed.txt"), "The house is ours.");
      await write("tidy", { ...facts, steps: [plan, move("junk.txt")] });
      const { json } = await start("tidy");
      const [{ output }] = json.flow.steps;
      expect(output.calls).toMatchObject([{ level: "delete", does: expect.stringMatching(/^replaces/) }]);
      expect(await openPage(json.flowId)).toMatch(/Deletes something<\/span> It replaces[^<]*\.<\/p>/);
      const done = await press(json.flowId, "approve");
      expect(done.json.flow.status).toBe("completed");
      expect(await readFile(drive("Deed.txt"), "utf8")).toBe("junk");
    });

    test("is not made where it replaced nothing when it was approved", async () => {
      const page = join(service.dataDir, "notes", "Permit.md");
      const put = (text: string) => writeFile(page, `---\ntitle: Permit\n${text}---\nIn the drawer.\n`);
      await put("");
      const args = { page_id: "Permit.md", title: "Permit", properties: { status: "done" } };
      await write("mark", { ...facts, steps: [plan, { key: "mark", call: "notes_update_page", arguments: args }] });
      const { json } = await start("mark");
      expect(json.flow.steps[0].output.calls).toMatchObject([{ level: "write" }]);
      expect(await openPage(json.flowId)).not.toContain("Deletes something");
      await put("status: Do not touch\n");
      for (const verb of ["approve", "resume"] as const) {
        const failed = await press(json.flowId, verb);
        expect(failed.json.flow.status).toBe("failed");
        expect(failed.json.steps[1].error).toMatchObject({ code: "flow_call_changed" });
        expect(await readFile(page, "utf8")).toContain("Do not touch");
      }
    });
  });

  test("mistakes stand on the page of templates", async () => {
    await write("bad", { ...facts, steps: [{ key: "k", call: "notes_create_page", arguments: { title: "<b>" } }] });
    const browser = openBrowser();
    await browser.open(await service.service.signInUrl());
    const { text } = await browser.open(`${service.url}/flows/templates`);
    expect(text).toContain("<strong>bad.json</strong>");
    expect(text).toContain(
      "<code>steps[0]</code> notes_create_page changes something; put a step with &quot;approve&quot;",
    );
  });
});
