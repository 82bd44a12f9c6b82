import { afterAll, beforeAll, expect, test } from "vitest";
import { openTriggerLab, TOKEN, type TriggerLab } from "../../service/triggers/trigger-lab.ts";
import { createState, type HostState } from "./host/isolated-state.ts";
import { type ScriptedModel, startScriptedModel } from "./host/scripted-model.ts";
import { type Gateway, startGateway } from "./host/start-gateway.ts";

/** A gateway of one agent, whose hooks the service calls; it needs no plugin for that. With two, a hook must name one. */

let lab: TriggerLab;
let model: ScriptedModel;
let state: HostState;
let gateway: Gateway;
beforeAll(async () => {
  lab = await openTriggerLab();
  model = await startScriptedModel();
  const hooks = { enabled: true, token: TOKEN, path: "/hooks" };
  state = await createState({ modelUrl: model.url, config: { hooks } });
  gateway = await startGateway(state);
}, 600_000);
afterAll(async () => {
  await gateway?.stop();
  await state?.remove();
  await model?.close();
  await lab?.close();
});

const listEvents = () => lab.service.store.selectFrom("trigger_events").selectAll().execute();
const runs = (text: string) => model.requests.filter(({ words }) => words.includes(text));

test("a new mail runs an agent, once, and reaches it as content from outside", async () => {
  const url = `${gateway.url}/hooks/agent`;
  const id = await lab.make({ kind: "mail", query: "subject:invoice" }, { does: "wake", url, text: "Sort the mail." });
  await lab.receiveMail({ subject: "Your invoice", id: "a@x" });
  await lab.receiveMail({ subject: "Lunch?", id: "b@x" });
  await lab.pass(60_000);
  expect(await listEvents()).toMatchObject([{ status: "done", error: null }]);
  await expect.poll(() => runs("Your invoice").length, { timeout: 60_000 }).toBe(1);
  const [run] = runs("Your invoice");
  expect(run?.words).toContain("Sort the mail.");
  expect(run?.words).toMatch(/EXTERNAL/);
  // As after a crash between the answer of the gateway and its record.
  await lab.service.store.updateTable("trigger_events").set({ status: "pending" }).execute();
  await lab.pass(60_000);
  expect(await listEvents()).toMatchObject([{ status: "done" }]);
  expect(runs("Your invoice")).toHaveLength(1);
  await lab.service.triggers.remove(id);
});

test("the main session is woken, and a wrong token is told", async () => {
  const url = `${gateway.url}/hooks/wake`;
  const id = await lab.make({ kind: "webhook" }, { does: "wake", url, text: "Look at the mail." });
  await lab.service.triggers.runNow(id, "one");
  await lab.pass(0);
  expect(await listEvents()).toMatchObject([{ status: "done", error: null }]);
  const content = { name: "Wrong", on: { kind: "webhook" }, act: { does: "wake", url, text: "Look." } } as const;
  const { trigger } = await lab.service.triggers.make({ content, token: "another token", by: "Owner" });
  await lab.service.triggers.runNow(trigger.row.id, "one");
  await lab.pass(0);
  const [failing] = await lab.service.triggers.listEvents(trigger.row.id);
  expect(failing?.row).toMatchObject({ status: "pending", error: "It answered 401." });
});
