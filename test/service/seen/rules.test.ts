import { afterEach, beforeEach, expect, test } from "vitest";
import { ruleContentSchema } from "../../../src/service/access/rules.ts";
import { openRules } from "../access/open-rules.ts";
import { execute } from "../http-calls.ts";
import { mailTo, readMail, STRANGER, startMailWorld } from "./mail-world.ts";

let service: Awaited<ReturnType<typeof startMailWorld>>;
let rules: Awaited<ReturnType<typeof openRules>>;

beforeEach(async () => {
  service = await startMailWorld();
  rules = await openRules(service);
});
afterEach(async () => {
  await rules.close();
  await service.end();
});

const send = async (to: string, more: object = {}) =>
  (await execute(service, "mail_send_message", { ...mailTo(to), ...more })).json.error?.code;

test("a rule about strangers blocks what goes to them, whatever the device says, and nothing else", async () => {
  await rules.add({ effect: "block", tool: "mail/*", level: "write", origin: "stranger" }, "test");
  await readMail(service);
  expect(await send(STRANGER)).toBe("blocked_by_rule");
  expect(await send(STRANGER, { said: [STRANGER], confirmed: true })).toBe("blocked_by_rule");
  expect(await send("nobody@unseen.example")).toBe("blocked_by_rule");
  expect(await send("berta@friends.example")).toBe("confirmation_required");
});

test("a rule about strangers asks about a read that takes their address along, in place of one that allows it", async () => {
  await rules.add({ effect: "ask", tool: "mail_search", origin: "stranger" }, "test");
  await rules.add({ effect: "allow", tool: "mail/*" }, "test");
  const search = async (who: string) =>
    (await execute(service, "mail_search", { arguments: { query: `from:${who}` } })).json.error?.code;
  expect(await search(STRANGER)).toBeUndefined();
  await readMail(service);
  expect(await search(STRANGER)).toBe("confirmation_required");
  expect(await search("berta@friends.example")).toBeUndefined();
});

test("no rule allows what goes to strangers", () => {
  const rule = { effect: "allow", tool: "mail/*", origin: "stranger" };
  expect(ruleContentSchema.safeParse(rule).error?.issues[0]?.path).toEqual(["origin"]);
});
