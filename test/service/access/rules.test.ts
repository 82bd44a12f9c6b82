import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findRule, ruleContentSchema } from "../../../src/service/access/rules.ts";
import { createCatalog } from "../../../src/service/catalog/catalog.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { decideHeld } from "../approvals/owner.ts";
import { openTestFlows, start } from "../flows/flow-lab.ts";
import { call, execute } from "../http-calls.ts";
import { callTool, sendModern } from "../mcp/mcp-calls.ts";
import { makeRule, openRules } from "./open-rules.ts";
import { createZoo, type Zoo } from "./zoo.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

let zoo: Zoo;
let service: TestService;
let rules: Awaited<ReturnType<typeof openRules>>;

async function open(approvals: "owner" | "device") {
  zoo = createZoo();
  service = await startTestService({ integrations: zoo.integrations, approvals });
  ends.push(() => service.close());
  for (const { slug } of zoo.integrations) {
    await service.service.connections.add({ integration: slug, label: `My ${slug}`, settings: {} });
  }
  rules = await openRules(service);
  ends.push(() => rules.close());
}

const canonical = (integration_id: string, action_id: string, more: object = {}) =>
  call(`${service.url}/api/executions`, {
    method: "POST",
    key: service.apiKey,
    body: JSON.stringify({ integration_id, action_id, input: {}, ...more }),
  });
const byName = (tool: string, confirmed = false) => execute(service, tool, { arguments: {}, confirmed });

describe("a service that leaves approvals to devices", () => {
  beforeEach(() => open("device"));

  test("a block refuses a call at every endpoint, whatever it confirms, and says why", async () => {
    await rules.add({ effect: "allow", tool: "mail_send" }, "test");
    await rules.add({ effect: "block", tool: "MAIL/S*", note: "Private." }, "test");
    const refused = await byName("mail_send", true);
    expect(refused.status).toBe(403);
    expect(refused.json).toMatchObject({
      error: { code: "blocked_by_rule", message: 'The owner of this service does not allow "send".' },
      details: ["block MAIL/S*"],
      canonical: { status: "blocked", error_code: "forbidden" },
    });
    expect(refused.json.canonical).not.toHaveProperty("recommended_next_action");
    expect(refused.text).not.toContain("Private");
    const args = { integration_id: "Mail", action_id: "mail-send", input: {}, confirm: true };
    expect((await canonical("Mail", "Send", { confirm: true })).json).toMatchObject({
      status: "blocked",
      error_code: "forbidden",
    });
    expect((await callTool(service, "svc.execute", args)).structuredContent).toMatchObject({ error_code: "forbidden" });
    const modern = await sendModern(service, "tools/call", { name: "svc.execute", arguments: args });
    expect(modern.json.result.structuredContent).toMatchObject({ error_code: "forbidden" });
    expect(zoo.ran).toEqual([]);
    expect((await byName("mail_list-send")).status).toBe(200);
  });

  test("an ask holds up a read until it is confirmed, and says so to the human", async () => {
    await rules.add({ effect: "ask", tool: "mail/*", level: "read" }, "test");
    const asked = await byName("mail_getItem");
    expect(asked.status).toBe(412);
    expect(asked.json).toMatchObject({
      requiresConfirmation: true,
      error: { code: "confirmation_required", message: expect.stringContaining("its owner wants to be asked") },
      policyReason: expect.stringContaining("The owner of this service wants to be asked"),
    });
    expect(zoo.ran).toEqual([]);
    expect((await byName("mail_getItem", true)).status).toBe(200);
    expect((await byName("mail-list_get")).status).toBe(200);
  });

  test("an allow runs a write unasked, never a delete or an administration", async () => {
    await rules.add({ effect: "allow", tool: "*" }, "test");
    await rules.add({ effect: "allow", tool: "mail_delete_item" }, "test");
    expect((await byName("mail_send")).status).toBe(200);
    expect((await byName("mail_delete_item")).status).toBe(412);
    expect((await byName("mail-list_purge")).status).toBe(412);
    expect((await canonical("maillist2", "delete_items")).json).toMatchObject({ error_code: "policy_blocked" });
    expect(zoo.ran).toHaveLength(1);
  });

  test("an allow of one app reaches no app whose id begins with it", async () => {
    await rules.add({ effect: "allow", tool: "mail_*" }, "test");
    expect([(await byName("mail_send")).status, (await byName("mail-list_send")).status]).toEqual([200, 412]);
  });

  test("a rule for an account or a key is for it alone, and a removed one is gone", async () => {
    const second = await service.service.connections.add({ integration: "mail", label: "Other", settings: {} });
    const [first] = await service.service.connections.list("mail");
    const other = await service.createKey("Other");
    const { id } = await rules.add({ effect: "block", tool: "mail/*", account: second.id }, "test");
    const on = (connectionId = "") => execute(service, "mail_getItem", { arguments: {}, connectionId });
    expect([(await on(first?.id)).status, (await on(second.id)).status]).toEqual([200, 403]);
    expect(await rules.remove(id)).toBe(true);
    expect(await rules.remove(id)).toBe(false);
    expect((await on(second.id)).status).toBe(200);
    const key = (await rules.store.selectFrom("api_keys").select("id").where("label", "=", "Other").execute())[0]?.id;
    await rules.add({ effect: "block", tool: "mail/*", key }, "test");
    expect((await on(second.id)).status).toBe(200);
    expect((await execute({ ...service, apiKey: other }, "mail_getItem", { arguments: {} })).status).toBe(403);
  });

  test("the same rule is kept once", async () => {
    const first = await rules.add({ effect: "block", tool: "mail/*", note: "One." }, "test");
    expect(await rules.add({ effect: "block", tool: "mail/*", note: "Two." }, "test")).toEqual(first);
    expect(await rules.list()).toEqual([first]);
  });
});

describe("a service whose owner approves", () => {
  beforeEach(() => open("owner"));

  test("an allow runs a write at once, an ask holds a read", async () => {
    await rules.add({ effect: "allow", tool: "mail/send" }, "test");
    await rules.add({ effect: "ask", tool: "mail/getitem" }, "test");
    expect((await byName("mail_send")).status).toBe(200);
    const held = await byName("mail_getItem", true);
    expect(held.json.error).toMatchObject({ code: "confirmation_required", approval: { status: "pending" } });
    const { page } = await decideHeld(service, held.json.error.approval.id, "approve");
    expect(page).toContain("wants to be asked");
    await expect.poll(() => zoo.ran.length).toBe(2);
  });

  test("an approved call that is blocked since is not run", async () => {
    const held = await byName("mail_send");
    const { id } = held.json.error.approval;
    await rules.add({ effect: "block", tool: "mail_send" }, "test");
    await decideHeld(service, id, "approve");
    const read = async () => (await call(`${service.url}/api/approvals/${id}`, { key: service.apiKey })).json.approval;
    // A look at the rules that comes between ends the wait before the owner's answer does.
    await expect.poll(async () => (await read()).status).toMatch(/^(?:void|declined)$/);
    expect((await read()).reason).toContain("does not allow");
    expect(zoo.ran).toEqual([]);
  });
});

describe("the rule that decides", () => {
  const send = createCatalog(createZoo().integrations).find("mail_send");

  test("is the strictest, and names an action whose level is a guess", () => {
    if (send === undefined) throw new Error("The zoo is empty.");
    const find = (texts: string[], isLevelAssumed = false) => {
      const rules = texts.map((text) => makeRule(ruleContentSchema.parse(toContent(text))));
      const entry = { ...send, action: { ...send.action, isLevelAssumed } };
      return findRule(rules, { entry, connectionId: "con_1", subject: "key_1" })?.effect;
    };
    const toContent = (text: string) => {
      const [effect, tool] = text.split(" ");
      return { effect, tool };
    };
    expect(find(["allow mail_send", "ask *", "block mail/*"])).toBe("block");
    expect(find(["allow mail_send", "ask *"])).toBe("ask");
    expect(find(["allow mail/*"])).toBe("allow");
    expect(find(["allow mail/*"], true)).toBeUndefined();
    expect(find(["allow mail/send"], true)).toBe("allow");
  });

  test.each([
    [{ effect: "allow", tool: "mail/*", level: "delete" }, "always asked about"],
    [{ effect: "permit", tool: "mail/*" }, "one of these effects"],
    [{ effect: "block" }, "pattern on tools"],
    [{ effect: "block", tool: "a b" }, "pattern on tools"],
    [{ effect: "block", tool: "*", level: "all" }, "one of these levels"],
    [{ effect: "block", tool: "*", app: "mail" }, "app"],
  ])("%j is refused in a sentence", (content, said) => {
    expect(ruleContentSchema.safeParse(content).error?.issues[0]?.message).toContain(said);
  });
});

test("a step of a flow obeys", async () => {
  const inForce = [makeRule({ effect: "block", tool: "lab/PUT" })];
  const t = await openTestFlows({ onEnd: (end) => ends.push(end), rules: inForce });
  const { flow } = await start(t.flows, "chain", { titles: ["a"] });
  const failed = await t.flows.approve("acc_test", flow.id, { by: "test" });
  expect(failed.flow.status).toBe("failed");
  expect(failed.steps[3]?.error).toMatchObject({ code: "blocked_by_rule" });
  inForce.length = 0;
  await t.flows.resume("acc_test", flow.id);
  await expect.poll(() => t.lab.ran).toEqual(["look:things", "put:a"]);
});
