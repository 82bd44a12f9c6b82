import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { startFeeds, writeRss } from "../feeds/start-feeds.ts";
import { type ContractSubject, describeIntegrationContract } from "./describe-integration-contract.ts";

describeIntegrationContract("drive", () =>
  setUp("drive", {
    read: { action: "list_files", args: {} },
    write: { action: "create_folder", args: { path: "A" } },
    badSettings: {},
  }),
);

describeIntegrationContract("notes", () =>
  setUp("notes", {
    read: { action: "search", args: { query: "milk" } },
    write: { action: "create_page", args: { title: "Milk", body: "2 l" } },
    badSettings: {},
  }),
);

describeIntegrationContract("calendar", () =>
  setUp("calendar", {
    folder: "personal",
    read: { action: "list_events", args: { from: "2026-11-23", to: "2026-11-29" } },
    write: {
      action: "create_event",
      args: { title: "Off", weekday: "Friday", start: "2026-11-27", end: "2026-11-27" },
    },
    badSettings: { folder: "/tmp", timeZone: "Nowhere" },
  }),
);

describeIntegrationContract("feeds", async () => {
  const host = await startFeeds();
  host.answers.set("/feed", { body: writeRss("News", []) });
  const service = await startTestService({ allowHosts: [host.host] });
  const folder = join(service.dataDir, "feeds");
  return {
    service,
    slug: "feeds",
    read: { action: "list_entries", args: {} },
    write: { action: "subscribe", args: { url: host.url("/feed") } },
    badSettings: {},
    countEffects: async () => (await readdir(folder)).filter((name) => name.endsWith(".feed.json")).length,
    async close() {
      await service.close();
      await host.close();
    },
  };
});

describeIntegrationContract("contacts", () =>
  setUp("contacts", {
    folder: "personal",
    read: { action: "search", args: { query: "ana" } },
    write: { action: "create_contact", args: { name: "Ana" } },
    badSettings: { server: "https://dav.example.org" },
  }),
);

/** @param o.folder one that is there before the first write */
async function setUp(
  slug: string,
  { folder = "", ...o }: Pick<ContractSubject, "read" | "write" | "badSettings"> & { readonly folder?: string },
): Promise<ContractSubject> {
  const service = await startTestService();
  await mkdir(join(service.dataDir, slug, folder), { recursive: true });
  return { service, slug, ...o, countEffects: () => countEntries(service, slug), close: () => service.close() };
}

/** What a write leaves is a file or a folder more in the folder of the connection. */
async function countEntries({ service }: TestService, slug: string): Promise<number> {
  const [connection] = await service.connections.list(slug);
  return (await readdir(join(String(connection?.settings.folder)), { recursive: true })).length;
}
