import { startTestService } from "../../../src/testing.ts";
import { startNotion, TOKEN } from "../notion/kit/start-notion.ts";
import { describeIntegrationContract } from "./describe-integration-contract.ts";
import { HTTP_FAULTS, toHttpAnswer } from "./http-faults.ts";
import type { ProviderFault } from "./provider-faults.ts";

describeIntegrationContract("notes in Notion", setUp, { faults: HTTP_FAULTS });

async function setUp() {
  const notion = await startNotion();
  const home = notion.addPage(undefined, "Home");
  const service = await startTestService({ providerTimeoutMs: 4_000 });
  const { connections } = service.service;
  for (const { id } of await connections.list("notes")) await connections.remove(id);
  const settings = { notionToken: TOKEN, notionUrl: notion.url, notionParent: home.id };
  await connections.add({ integration: "notes", label: "Notion", settings });
  return {
    service,
    slug: "notes",
    read: { action: "search", args: { query: "milk" } },
    write: { action: "create_page", args: { title: "Milk", body: "2 l" } },
    countEffects: async () => notion.listTitles(home).length,
    badSettings: { ...settings, notionUrl: "http://notion.example.org" },
    /** The look-up before a write stays well: what fails without having changed anything is another test's matter. */
    async meet(fault: ProviderFault) {
      const answer = toHttpAnswer(fault);
      if (answer === undefined) await notion.stop();
      else notion.fail(({ method }) => (method === "POST" || answer.status === 401 ? answer : undefined));
    },
    async recover() {
      notion.fail(() => undefined);
      await notion.resume();
    },
    async close() {
      await service.close();
      await notion.close();
    },
  };
}
