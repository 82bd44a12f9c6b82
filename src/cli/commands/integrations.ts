import type { SvcClient } from "../../client/client.ts";
import type { IntegrationItem } from "../../wire/catalog.ts";
import { toPlainText } from "../../wire/plain-text.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { openClient } from "../open-session.ts";

/** Integrations asked for in one request. */
const PAGE_SIZE = 100;

/** `svc integrations`: every app of the service and the state of its connection. */
export async function integrations(
  context: CliContext,
  flags: { baseUrl?: string; connected?: boolean },
): Promise<number> {
  const { terminal } = context;
  const { client } = await openClient(context, flags);
  try {
    const items = await listAllIntegrations(client, {
      connectedOnly: flags.connected === true,
      signal: context.signal,
    });
    terminal.answer(items, () => {
      if (items.length === 0) return "No app is connected.";
      const slugs = Math.max(...items.map((item) => item.integration_id.length));
      const names = Math.max(...items.map((item) => nameOf(item).length));
      return items
        .map((item) => `${item.integration_id.padEnd(slugs)}  ${nameOf(item).padEnd(names)}  ${describeState(item)}`)
        .join("\n");
    });
    if (!terminal.json) terminal.say('\nNext: "svc connect <app>" prints the link on which an app is connected.');
    return EXIT.ok;
  } finally {
    await client.close();
  }
}

/** All integrations, over as many pages as there are. */
export async function listAllIntegrations(
  client: SvcClient,
  o: { connectedOnly?: boolean; signal?: AbortSignal },
): Promise<IntegrationItem[]> {
  const items: IntegrationItem[] = [];
  const options = o.signal === undefined ? {} : { signal: o.signal };
  for (let page = 1; ; page++) {
    const query = { page, page_size: PAGE_SIZE, ...(o.connectedOnly ? { connected_only: true } : {}) };
    const reply = await client.listIntegrations(query, options);
    items.push(...reply.items);
    if (reply.items.length === 0 || items.length >= (reply.total ?? items.length)) return items;
  }
}

/** What people call an app. */
export const nameOf = ({ name, integration_id }: IntegrationItem): string => toPlainText(name ?? integration_id);

const STATES: Readonly<Record<string, string>> = {
  healthy: "connected",
  reauth_required: "must be reconnected",
  error: "needs attention",
  not_connected: "not connected",
  no_default: "several connections, none is the default",
};

function describeState({ connected, connection_state }: IntegrationItem): string {
  return STATES[connection_state ?? ""] ?? connection_state ?? (connected ? "connected" : "not connected");
}
