import { findConnectUrl } from "../../plugin/calls/steps/answer/await-connection.ts";
import { listAllIntegrations } from "../../plugin/client/all-integrations.ts";
import { toPlainText } from "../../shared/card/plain-text.ts";
import { SvcError } from "../../shared/errors.ts";
import type { IntegrationItem } from "../../shared/wire/catalog.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { withClient } from "../open-session.ts";

/** `svc integrations`: every app of the service and the state of its connection. */
export async function integrations(
  context: CliContext,
  flags: { baseUrl?: string; connected?: boolean },
): Promise<number> {
  const { terminal } = context;
  return withClient(context, flags, async ({ client }) => {
    const items = await listAllIntegrations(client, flags.connected ? { connected_only: true } : {}, {
      signal: context.signal,
    });
    terminal.answer(items, () => {
      if (items.length === 0) return "No app is connected.";
      const rows = items.map((item) => [toPlainText(item.integration_id), nameOf(item), describeState(item)] as const);
      const slugs = Math.max(...rows.map(([slug]) => slug.length));
      const names = Math.max(...rows.map(([, name]) => name.length));
      const lines = rows.map(([slug, name, state]) => `${slug.padEnd(slugs)}  ${name.padEnd(names)}  ${state}`);
      const problems = items.flatMap((item) =>
        item.problem === undefined ? [] : [`\n${nameOf(item)} stopped working. ${toPlainText(item.problem)}`],
      );
      return [...lines, ...problems].join("\n");
    });
    if (!terminal.json) terminal.say('\nNext: "svc connect <app>" prints the link on which an app is connected.');
    return EXIT.ok;
  });
}

const nameOf = ({ name, integration_id }: IntegrationItem): string => toPlainText(name ?? integration_id);

const STATES: Readonly<Record<string, string>> = {
  healthy: "connected",
  reauth_required: "must be reconnected",
  error: "needs attention",
  not_connected: "not connected",
  no_default: "several connections, none is the default",
};

function describeState({ connected, connection_state, problem }: IntegrationItem): string {
  if (problem !== undefined) return "stopped working";
  return STATES[connection_state ?? ""] ?? connection_state ?? (connected ? "connected" : "not connected");
}

/** `svc connect`: prints the address of the dashboard page that connects or reconnects the app. */
export async function connect(context: CliContext, app: string, flags: { baseUrl?: string }): Promise<number> {
  const { terminal, signal } = context;
  return withClient(context, flags, async ({ client }) => {
    const items = await listAllIntegrations(client, {}, { signal });
    const item = items.find(({ integration_id }) => integration_id === app.toLowerCase());
    if (item === undefined) throw unknownApp(app, items);
    // A service gives no link for a connected app unless asked to renew the connection.
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
  });
}

function unknownApp(app: string, items: readonly IntegrationItem[]): SvcError {
  return new SvcError("invalid_config", `The service has no app "${app}".`, {
    field: "app",
    hint: `It has: ${items.map(({ integration_id }) => integration_id).join(", ")}. One that was just added is there within seconds.`,
  });
}
