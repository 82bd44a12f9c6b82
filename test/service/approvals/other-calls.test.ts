import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { attach } from "../files/envelope.ts";
import { openBrowser, readCsrf } from "../http/pages/browser.ts";
import { call, execute } from "../http-calls.ts";
import { createLab, type Lab } from "../lab-integration.ts";
import { decideHeld } from "./owner.ts";

/** What makes a call another one than the one that an owner was shown. */

let lab: Lab;
let service: TestService;
let accounts: readonly string[];

beforeEach(async () => {
  lab = createLab();
  service = await startTestService({ integrations: [lab.integration], approvals: "owner" });
  for (const label of ["First", "Second"]) {
    await service.service.connections.add({ integration: "lab", label, settings: {} });
  }
  accounts = (await service.service.connections.list("lab")).map(({ id }) => id);
});
afterEach(() => service.close());

const put = (args: object, more: object = {}) =>
  execute(service, "lab_put", { arguments: args, connectionId: accounts[0], ...more });
const ask = async (args: object, more: object = {}): Promise<string> => (await put(args, more)).json.error.approval.id;
const read = async (id: string) =>
  (await call(`${service.url}/api/approvals/${id}?wait=5`, { key: service.apiKey })).json.approval;
const findPut = () => lab.integration.actions.find(({ id }) => id === "put") ?? expect.fail("no such action");

test("the account, the bytes of a file and what the call does are part of it", async () => {
  const file = { name: "a.txt", mimetype: "text/plain", s3key: "local:1" };
  const send = (text: string, more: object = {}) =>
    ask({ title: "Milk", file }, { files: [attach("local:1", Buffer.from(text), file)], ...more });
  const id = await send("four");
  expect(await send("four")).toBe(id);
  expect(await send("five")).not.toBe(id);
  expect(await send("four", { connectionId: accounts[1] })).not.toBe(id);
  Object.assign(findPut(), { judge: async () => ({ level: "delete", says: "replaces what is there" }) });
  const raised = await send("four");
  expect(raised).not.toBe(id);
  Object.assign(findPut(), { judge: async () => ({ level: "admin", says: "replaces what is there" }) });
  expect(await send("four")).not.toBe(raised);
});

test("an edit that does more than what was shown is looked at before it is approved", async () => {
  Object.assign(findPut(), {
    judge: async ({ title }: { title: string }) =>
      title === "All" ? { level: "delete", says: "replaces all" } : undefined,
  });
  const id = await ask({ title: "One" });
  const browser = openBrowser();
  await browser.open(await service.service.signInUrl());
  const edit = async (title: string) => {
    const shown = await browser.open(`${service.url}/inbox/${id}?edit=1`);
    const fingerprint = /name="fingerprint" value="([^"]+)"/.exec(shown.text)?.[1] ?? "";
    const fields = { csrf: readCsrf(shown), fingerprint, decision: "edit", arguments: JSON.stringify({ title }) };
    return browser.submit(`${service.url}/inbox/${id}`, fields);
  };
  expect((await edit("All")).headers.location).toContain("notice=checked");
  expect((await call(`${service.url}/api/approvals/${id}`, { key: service.apiKey })).json.approval.status).toBe(
    "pending",
  );
  expect((await browser.open(`${service.url}/inbox/${id}`)).text).toContain("replaces all");
  expect(lab.ran).toEqual([]);
});

test("an edit counts for the action that was shown alone", async () => {
  const id = await ask({ title: "One" });
  const browser = openBrowser();
  await browser.open(await service.service.signInUrl());
  const shown = await browser.open(`${service.url}/inbox/${id}?edit=1`);
  const fingerprint = /name="fingerprint" value="([^"]+)"/.exec(shown.text)?.[1] ?? "";
  Object.assign(findPut(), { description: "Stores a thing, and tells everybody." });
  const fields = { csrf: readCsrf(shown), fingerprint, decision: "edit", arguments: '{"title":"Two"}' };
  const answer = await browser.submit(`${service.url}/inbox/${id}`, fields);
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("The action changed")]);
});

test("what it acts on may grow meanwhile: the approved call does no more than was shown", async () => {
  const id = await ask({ title: "One" });
  Object.assign(findPut(), { judge: async () => ({ level: "delete", says: "replaces all" }) });
  await decideHeld(service, id, "approve");
  expect(await read(id)).toMatchObject({ status: "void", reason: expect.stringContaining("does more") });
  expect(lab.ran).toEqual([]);
});

test("a renamed account is another one", async () => {
  const id = await ask({ title: "One" });
  await service.service.connections.update(accounts[0] ?? "", { label: "Renamed" });
  await decideHeld(service, id, "approve");
  expect(await read(id)).toMatchObject({ status: "void", reason: expect.stringContaining("account was changed") });
  expect(lab.ran).toEqual([]);
});

test("five hundred calls wait at most, and the refusal names the way out", async () => {
  const titles = Array.from({ length: 500 }, (_, index) => `Thing ${index}`);
  while (titles.length > 0) await Promise.all(titles.splice(0, 25).map((title) => ask({ title })));
  const refused = await put({ title: "One more" });
  expect(refused.status).toBe(429);
  expect(refused.json.error.code).toBe("too_many_approvals");
  expect(JSON.stringify(refused.json)).toContain("inbox is full");
  expect((await put({ title: "Thing 7" })).status).toBe(412);
});
