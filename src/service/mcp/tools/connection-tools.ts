import { isRecord } from "../../../base/json.ts";
import { shortenText } from "../../../base/text.ts";
import { findDefaultConnection } from "../../catalog/describe-catalog.ts";
import { appStopped, integrationNotFound } from "../../catalog/not-found.ts";
import { connectUrl, reconnectUrl } from "../../connections/connection-form.ts";
import type { Connection } from "../../connections/connections.ts";
import type { Integration } from "../../integrations/integration.ts";
import { ServiceError } from "../../service-error.ts";
import type { McpCall, McpResult, McpTool } from "../mcp-features.ts";
import { reads, refuse, structuredResult, type ToolParts } from "./tool-results.ts";
import { INTEGRATION_ID, objectSchema, orNull, resultSchema } from "./tool-schemas.ts";

/** How long an agent may reasonably wait for the human; the page itself stays. */
const CONNECT_WAIT_MS = 15 * 60 * 1000;
const ANSWER = "connect";

const CONNECTION_ID = {
  type: "string",
  description:
    "The account, where the app has several. Default: the one that needs a new sign-in, else the default one.",
};

/** `svc.get_connection` and `svc.connect_app`. */
export function createConnectionTools(parts: ToolParts): McpTool[] {
  return [
    {
      name: "svc.get_connection",
      description: "Shows whether an app is connected, with which account, and whether it must be signed in to again.",
      inputSchema: objectSchema({ integration_id: INTEGRATION_ID, connection_id: CONNECTION_ID }, ["integration_id"]),
      outputSchema: CONNECTION_RESULT,
      annotations: reads("Show a connection"),
      async call({ integration_id, connection_id }) {
        const found = await findApp(parts, integration_id, connection_id);
        return "refusal" in found ? found.refusal : structuredResult(describeConnection(found));
      },
    },
    {
      name: "svc.connect_app",
      description:
        "Gives the address of the page on which the human connects an app or signs in to it again. You cannot connect it yourself: show the address to the human, and go on when the app is connected.",
      inputSchema: objectSchema(
        {
          integration_id: INTEGRATION_ID,
          connection_id: CONNECTION_ID,
          force_reconnect: {
            type: "boolean",
            default: false,
            description: "True asks for a new sign-in although the app is connected, for example to grant more.",
          },
        },
        ["integration_id"],
      ),
      outputSchema: CONNECT_RESULT,
      annotations: {
        title: "Ask the human to connect an app",
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: true,
      },
      async call({ integration_id, connection_id, force_reconnect }, call) {
        const found = await findApp(parts, integration_id, connection_id);
        if ("refusal" in found) return found.refusal;
        if (found.integration.stopped !== undefined) return refuse(appStopped(found.integration));
        return connectApp(parts, { ...found, isForced: force_reconnect === true && call.state === undefined, call });
      },
    },
  ];
}

interface App {
  readonly integration: Integration;
  readonly connections: readonly Connection[];
  /** The connection that was named. */
  readonly named: Connection | undefined;
}

async function findApp(
  parts: ToolParts,
  integrationId: unknown,
  connectionId: unknown,
): Promise<App | { readonly refusal: McpResult }> {
  const integration = parts.catalog.findIntegration(String(integrationId));
  if (integration === undefined) return { refusal: refuse(integrationNotFound(parts.catalog, String(integrationId))) };
  const connections = await parts.connections.list(integration.slug);
  if (connectionId === undefined) return { integration, connections, named: undefined };
  const named = connections.find(({ id }) => id === connectionId);
  if (named !== undefined) return { integration, connections, named };
  const message = `${integration.name} has no connection with the id "${shortenText(String(connectionId), 100)}".`;
  return { refusal: refuse(new ServiceError(404, "connection_not_found", message, { type: "validation" })) };
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

const CONNECTION_RESULT = resultSchema(
  {
    integration_id: { type: "string" },
    connected: { type: "boolean" },
    state: { type: "string" },
    connection_id: orNull({ type: "string" }),
    account_label: orNull({ type: "string" }),
    can_execute: { type: "boolean" },
    needs_reauth: { type: "boolean" },
  },
  ["integration_id", "connected", "state", "can_execute", "needs_reauth"],
);

const CONNECT_RESULT = resultSchema(
  {
    integration_id: { type: "string" },
    status: { type: "string", enum: ["requires_user_action", "already_connected"] },
    connection_id: { type: "string" },
    account_label: { type: "string" },
    connect_url: { type: "string" },
    expires_at: { type: "string" },
    instructions: { type: "array", items: { type: "string" } },
  },
  ["integration_id", "status", "instructions"],
);
