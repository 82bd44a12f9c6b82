import { startTestService } from "../../../src/testing.ts";
import { type ContractSubject, describeIntegrationContract } from "../contract/describe-integration-contract.ts";
import { HTTP_FAULTS, toHttpAnswer } from "../contract/http-faults.ts";
import type { ProviderFault } from "../contract/provider-faults.ts";
import { startRadicale } from "./kit/start-radicale.ts";

describeIntegrationContract(
  "calendars on a server",
  () =>
    setUp("calendar", {
      place: "/ana/personal/",
      read: { action: "list_events", args: { from: "2026-11-23", to: "2026-11-29" } },
      write: {
        action: "create_event",
        args: { title: "Off", weekday: "Friday", start: "2026-11-27", end: "2026-11-27", calendar: "personal" },
      },
    }),
  { faults: HTTP_FAULTS },
);

describeIntegrationContract(
  "contacts on a server",
  () =>
    setUp("contacts", {
      place: "/ana/people/",
      read: { action: "search", args: { query: "ana" } },
      write: { action: "create_contact", args: { name: "Ana" } },
    }),
  { faults: HTTP_FAULTS },
);

async function setUp(
  slug: string,
  { place, ...o }: Pick<ContractSubject, "read" | "write"> & { readonly place: string },
): Promise<ContractSubject> {
  const radicale = await startRadicale();
  const service = await startTestService({ providerTimeoutMs: 5_000 });
  const { connections } = service.service;
  for (const { id } of await connections.list(slug)) await connections.remove(id);
  const settings = { server: radicale.url, user: radicale.user, password: radicale.password };
  await connections.add({ integration: slug, label: "Radicale", settings });
  return {
    service,
    slug,
    ...o,
    async countEffects() {
      const { text } = await radicale.ask("PROPFIND", place, undefined, { depth: "1" });
      return text.split("<response>").length - 2;
    },
    badSettings: { ...settings, server: "http://dav.example.org" },
    /** The look-up before a write stays well: what fails without having changed anything is another test's matter. */
    async meet(fault: ProviderFault) {
      const answer = toHttpAnswer(fault);
      if (answer === undefined) await radicale.stop();
      else
        radicale.disturb(({ method }) =>
          method === "REPORT" || method === "PUT" || answer.status === 401 ? answer : undefined,
        );
    },
    async recover() {
      radicale.disturb(() => undefined);
      await radicale.resume();
    },
    async close() {
      await service.close();
      await radicale.close();
    },
  };
}
