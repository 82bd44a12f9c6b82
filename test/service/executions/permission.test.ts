import { afterEach, expect, test } from "vitest";
import { exportLog } from "../../../src/service/approvals/export-log.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { openRules } from "../access/open-rules.ts";
import { decideHeld } from "../approvals/owner.ts";
import { findStore } from "../find-store.ts";
import { openBrowser } from "../http/pages/browser.ts";
import { call, execute } from "../http-calls.ts";
import { createLab } from "../lab-integration.ts";

let service: TestService;
afterEach(() => service.close());

async function start(approvals: "owner" | "device"): Promise<void> {
  service = await startTestService({ integrations: [createLab().integration], approvals });
  await service.service.connections.add({ integration: "lab", label: "First", settings: {} });
}
const lookUp = (id: string) => call(`${service.url}/api/executions/${id}`, { key: service.apiKey });
async function permissions() {
  const place = { dataDir: service.dataDir, ...(await findStore(service.dataDir)) };
  const lines = await Array.fromAsync(exportLog({ isFull: false, ...place }));
  return lines.filter(({ type }) => type === "execution").map(({ allowed_by }) => allowed_by);
}
async function logPage(id: string): Promise<string> {
  const browser = openBrowser();
  await browser.open(await service.service.signInUrl());
  return (await browser.open(`${service.url}/log/${id}`)).text;
}

test("the log, its export and a lookup say that a device, a rule or the level let a call run", async () => {
  await start("device");
  const put = (more: object) => execute(service, "lab_put", { arguments: { title: "T" }, ...more });
  const read = await execute(service, "lab_look", { arguments: { text: "ab" } });
  const confirmed = await put({ confirmed: true });
  const rules = await openRules(service);
  const rule = await rules.add({ effect: "allow", tool: "lab_put" }, "test");
  const unasked = await put({});
  await rules.remove(rule.id);
  await rules.close();
  const ids = [read, confirmed, unasked].map(({ json }) => String(json.canonical.execution_id));
  const expected = [
    { by: "level", level: "read" },
    { by: "device" },
    { by: "rule", rule: "allow lab_put", rule_id: rule.id },
  ];
  const headers = [];
  for (const id of ids) headers.push(JSON.parse(String((await lookUp(id)).headers["x-svc-allowed-by"])));
  expect(headers).toEqual(expected);
  expect(await permissions()).toEqual([
    { by: "level", level: "read" },
    { by: "device", name: "Test device" },
    { by: "rule", id: rule.id, text: "allow lab_put" },
  ]);
  const [one = "", two = "", three = ""] = ids;
  expect(await logPage(one)).toContain("Nobody: this action needs no approval (read)");
  expect(await logPage(two)).toContain("Test device, which says that its human approved");
  expect(await logPage(three)).toContain(`The rule <code>allow lab_put</code>, <code>${rule.id}</code>`);
});

test("they name the person and the approval of a held call, and nothing for one that did not run", async () => {
  await start("owner");
  const hold = async (title: string) =>
    (await execute(service, "lab_put", { arguments: { title } })).json.error.approval.id as string;
  const [yes, no] = [await hold("yes"), await hold("no")];
  await decideHeld(service, yes, "approve");
  await decideHeld(service, no, "decline");
  const status = async () =>
    (await call(`${service.url}/api/approvals/${yes}`, { key: service.apiKey })).json.approval.status;
  await expect.poll(status).toBe("done");
  const given = await permissions();
  expect(given).toHaveLength(2);
  expect(given).toContainEqual({ by: "person", name: "Owner", approval: yes });
  expect(given).toContainEqual(null);
});
