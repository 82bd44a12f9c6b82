import { appStopped } from "../../../apps/port/create-added-integration.ts";
import type { Integration } from "../../../apps/port/integration.ts";
import { isRecord } from "../../../shared/base/json.ts";
import { shortenText } from "../../../shared/base/text.ts";
import type { AccessView } from "../../access/access-view.ts";
import { requireIntegration } from "../../catalog/not-found.ts";
import type { Connection } from "../../connections/connection.ts";
import { connectUrl, reconnectUrl } from "../../connections/connection-form.ts";
import { findDefaultConnection } from "../../connections/connections.ts";
import { ServiceError } from "../../service-error.ts";
import type { McpCall, McpResult, McpTool } from "../mcp-features.ts";
import { orRefuse, reads, structuredResult, type ToolParts } from "./tool-results.ts";
import { INTEGRATION_ID, objectSchema } from "./tool-schemas.ts";

/** How long an agent may reasonably wait for the human; the page itself stays. */
const CONNECT_WAIT_MS = 15 * 60 * 1000;
const ANSWER = "connect";

const CONNECTION_ID = {
  type: "string",
  description: "One of several accounts.",
};

/** `svc.get_connection` and `svc.connect_app`. */
export function createConnectionTools(parts: ToolParts): McpTool[] {
  return [
    {
      name: "svc.get_connection",
      description: "Shows the connection of an app: its account and its state.",
      inputSchema: objectSchema({ integration_id: INTEGRATION_ID, connection_id: CONNECTION_ID }, ["integration_id"]),
      annotations: reads("Show a connection"),
      call: ({ integration_id, connection_id }, { principal }) =>
        orRefuse(async () => {
          const view = await parts.access.view(principal);
          return structuredResult(describeConnection(await findApp(view, integration_id, connection_id)));
        }),
    },
    {
      name: "svc.connect_app",
      description: "Gives the address on which the human connects an app or signs in again: show it to them.",
      inputSchema: objectSchema(
        {
          integration_id: INTEGRATION_ID,
          connection_id: CONNECTION_ID,
          force_reconnect: {
            type: "boolean",
            description: "Sign in anew although it works.",
          },
        },
        ["integration_id"],
      ),
      annotations: {
        title: "Connect an app",
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: true,
      },
      call: ({ integration_id, connection_id, force_reconnect }, call) =>
        orRefuse(async () => {
          const found = await findApp(await parts.access.view(call.principal), integration_id, connection_id);
          if (found.integration.stopped !== undefined) throw appStopped(found.integration);
          return connectApp(parts, { ...found, isForced: force_reconnect === true && call.state === undefined, call });
        }),
    },
  ];
}

interface App {
  readonly integration: Integration;
  readonly connections: readonly Connection[];
  readonly named: Connection | undefined;
}

/** @throws ServiceError 404 `integration_not_found`, `connection_not_found`. */
async function findApp({ catalog, connections }: AccessView, integrationId: unknown, id: unknown): Promise<App> {
  const integration = requireIntegration(catalog, String(integrationId));
  const own = await connections.list(integration.slug);
  const named = own.find((connection) => connection.id === id);
  if (id === undefined || named !== undefined) return { integration, connections: own, named };
  const message = `${integration.name} has no connection with the id "${shortenText(String(id), 100)}".`;
  throw new ServiceError(404, "connection_not_found", message, { type: "validation" });
}

function describeConnection({ integration, connections, named }: App): Record<string, unknown> {
  const chosen = named ?? findDefaultConnection(connections);
  return {
    integration_id: integration.slug,
    connected: connections.length > 0,
    state:
      integration.stopped !== undefined
        ? "error"
        : (chosen?.state ?? (connections.length === 0 ? "not_connected" : "no_default")),
    connection_id: chosen?.id ?? null,
    account_label: chosen?.label ?? null,
    can_execute: integration.stopped === undefined && chosen?.state === "healthy",
    needs_reauth: chosen?.state === "reauth_required",
  };
}

function connectApp(parts: ToolParts, o: App & { isForced: boolean; call: McpCall }): McpResult {
  const { integration, call } = o;
  const { slug, name } = integration;
  const chosen = o.named ?? chooseUnwell(o.connections);
  if (chosen?.state === "healthy" && !o.isForced) {
    const instructions = [`${name} is connected as "${chosen.label}".`, "Send the original request again."];
    return structuredResult({ integration_id: slug, status: "already_connected", instructions });
  }
  const url = chosen === undefined ? connectUrl(parts.baseUrl, slug) : reconnectUrl(parts.baseUrl, chosen.id);
  const whole = chosen === undefined ? name : `${name} ("${chosen.label}")`;
  // An answer says that the human was asked, not that they finished: the connection, checked above, decides.
  if (call.canAsk("url") && !isRecord(call.answers[ANSWER])) {
    const message = `Connect ${whole} on the page of your svc service, then come back.`;
    const params = { mode: "url", message, url };
    return call.ask({ [ANSWER]: { method: "elicitation/create", params } }, { asked: ANSWER });
  }
  return structuredResult({
    integration_id: slug,
    status: "requires_user_action",
    ...(chosen !== undefined && { connection_id: chosen.id, account_label: chosen.label }),
    connect_url: url,
    expires_at: new Date(parts.now() + CONNECT_WAIT_MS).toISOString(),
    instructions: [
      `Ask the human to open ${url} in a browser that is signed in to this service, and to connect ${whole} there.`,
      `Then call svc.get_connection with integration_id "${slug}"${chosen === undefined ? "" : ` and connection_id "${chosen.id}"`} until can_execute is true, and send the original request again.`,
    ],
  });
}

/** The account that needs help: the default one, else the only other one. */
function chooseUnwell(connections: readonly Connection[]): Connection | undefined {
  const usual = findDefaultConnection(connections);
  if (usual !== undefined && usual.state !== "healthy") return usual;
  const unwell = connections.filter(({ state }) => state !== "healthy");
  return unwell.length > 1 ? undefined : (unwell[0] ?? usual);
}
