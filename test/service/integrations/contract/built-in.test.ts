import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { startTestService, type TestService } from "../../../../src/testing.ts";
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

async function setUp(
  slug: string,
  o: Pick<ContractSubject, "read" | "write" | "badSettings">,
): Promise<ContractSubject> {
  const service = await startTestService();
  return { service, slug, ...o, countEffects: () => countEntries(service, slug), close: () => service.close() };
}

/** What a write leaves is a file or a folder more in the folder of the connection. */
async function countEntries({ service }: TestService, slug: string): Promise<number> {
  const [connection] = await service.connections.list(slug);
  return (await readdir(join(String(connection?.settings.folder)), { recursive: true })).length;
}
