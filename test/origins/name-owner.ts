import type { TestService } from "../../src/testing.ts";
import type { World } from "./read-traces.ts";

type Connections = TestService["service"]["connections"];

/** Mailbox and calendar of the owner have their address; added apps have an account. */
export async function nameOwner(connections: Connections, { owner, tools }: World): Promise<void> {
  for (const { id, integration, settings } of await connections.list()) {
    if (integration !== "mail" && integration !== "calendar") continue;
    await connections.update(id, { settings: { ...settings, address: owner.address } });
  }
  for (const app of new Set(tools.map((tool) => tool.app))) {
    await connections.add({ integration: app, label: app, settings: {}, isDefault: true });
  }
}
