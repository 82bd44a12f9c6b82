import { SvcError } from "../../errors.ts";
import { findConnectUrl } from "../../tools/connect-link.ts";
import type { IntegrationItem } from "../../wire/catalog.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { openClient } from "../open-session.ts";
import { listAllIntegrations, nameOf } from "./integrations.ts";

/** `svc connect`: prints the address of the dashboard page on which the app is connected or reconnected. */
export async function connect(context: CliContext, app: string, flags: { baseUrl?: string }): Promise<number> {
  const { terminal, signal } = context;
  const { client } = await openClient(context, flags);
  try {
    const items = await listAllIntegrations(client, { signal });
    const item = items.find(({ integration_id }) => integration_id === app.toLowerCase());
    if (item === undefined) throw unknownApp(app, items);
    // A service gives no link for an app that is connected, unless it is asked to renew it.
    const input = { integration_id: item.integration_id, ...(item.connected ? { force_reconnect: true } : {}) };
    const url = await findConnectUrl(client, { tool: "svc.connect_app", input }, signal);
    if (url === undefined) {
      throw new SvcError("unsupported", `${client.baseUrl} gave no link for ${nameOf(item)}.`, {
        hint: `Open ${client.baseUrl} in a browser and connect ${nameOf(item)} there.`,
      });
    }
    terminal.answer({ integration: item.integration_id, connectUrl: url }, () =>
      [
        `Open this link while signed in to ${item.connected ? "renew or change the connection of" : "connect"} ${nameOf(item)}: ${url}`,
        'Not signed in? "svc login-link" prints a sign-in link on the machine that runs the service.',
      ].join("\n"),
    );
    return EXIT.ok;
  } finally {
    await client.close();
  }
}

function unknownApp(app: string, items: readonly IntegrationItem[]): SvcError {
  return new SvcError("invalid_config", `The service has no app "${app}".`, {
    field: "app",
    hint: `It has: ${items.map(({ integration_id }) => integration_id).join(", ")}. One that was just added is there within seconds.`,
  });
}
