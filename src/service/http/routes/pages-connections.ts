import type { Hono } from "hono";
import type { Connection } from "../../connections/connections.ts";
import { readLabel } from "../../connections/connector.ts";
import type { Integration } from "../../integrations/integration.ts";
import { ServiceError } from "../../service-error.ts";
import type { RouteEnv } from "../guard.ts";
import { askToSignIn, findOwner, readOwnForm } from "../owner-browser.ts";
import { type ConnectedApp, connectionBody, connectionsBody } from "../pages/connections-page.ts";
import { sendPage } from "../pages/page.ts";
import { findNotice } from "../read-query.ts";
import type { ServiceParts } from "../service-parts.ts";

const NOTICES: Readonly<Record<string, string>> = {
  connected: "Connected. Agents can use it from now on.",
  reconnected: "Reconnected. Calls that were refused can be repeated.",
  renamed: "The new name is saved.",
  default: "This is the default now: calls that name no connection use it.",
  disconnected: "Disconnected. Agents no longer reach it.",
  accepted: "Agreed. The actions are in use within seconds.",
  dismissed: "Dismissed. The actions you agreed to stay in use, the changed ones are not run.",
};

/** The list of connections and what can be done with each. */
export function addConnectionPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  app.get("/connections", async (c) => {
    const owner = await findOwner(c, parts);
    if (owner === undefined) return askToSignIn(c, parts);
    const body = connectionsBody({ apps: await listApps(parts), notice: findNotice(NOTICES, c.req.query("notice")) });
    return sendPage(c, { title: "Connections", body, csrfToken: owner.csrfToken, section: "connections" });
  });
  app.get("/connections/:id", async (c) => {
    const owner = await findOwner(c, parts);
    if (owner === undefined) return askToSignIn(c, parts);
    const { csrfToken } = owner;
    const { connection, integration } = await requireConnection(parts, c.req.param("id"));
    const notice = findNotice(NOTICES, c.req.query("notice"));
    const body = connectionBody({ connection, integration, csrfToken, notice });
    return sendPage(c, { title: connection.label, body, csrfToken, section: "connections" });
  });
  app.post("/connections/:id/rename", async (c) => {
    const { form } = await readOwnForm(c, parts);
    const { connection } = await requireConnection(parts, c.req.param("id"));
    const label = readLabel({ label: form.get("label") ?? "" }, connection.label);
    await parts.connections.update(connection.id, { label });
    return c.redirect(`/connections/${connection.id}?notice=renamed`, 303);
  });
  app.post("/connections/:id/default", async (c) => {
    await readOwnForm(c, parts);
    const { id } = await parts.connections.update(c.req.param("id"), { isDefault: true });
    return c.redirect(`/connections/${id}?notice=default`, 303);
  });
  app.post("/connections/:id/disconnect", async (c) => {
    await readOwnForm(c, parts);
    const { connection, integration } = await requireConnection(parts, c.req.param("id"));
    await parts.connector.disconnect(integration, connection);
    return c.redirect("/connections?notice=disconnected", 303);
  });
}

/** Installed apps, then apps that are gone but still have connections. */
async function listApps({ catalog, connections, sources }: ServiceParts): Promise<ConnectedApp[]> {
  const marks = new Map((await sources.listMarks()).map((mark) => [mark.slug, mark]));
  const left = Map.groupBy(await connections.list(), (connection) => connection.integration);
  const installed = catalog.integrations.map((integration) => {
    const own = left.get(integration.slug) ?? [];
    left.delete(integration.slug);
    return { integration, connections: own, isInstalled: true, added: marks.get(integration.slug) };
  });
  const gone = [...left].map(([slug, own]) => ({
    integration: { slug, name: slug, description: "This app is no longer installed." },
    connections: own,
    isInstalled: false,
    added: undefined,
  }));
  return [...installed, ...gone];
}

/**
 * The connection with this id, and its app unless that is no longer installed.
 *
 * @throws ServiceError 404 `connection_not_found`.
 */
export async function requireConnection(
  { connections, catalog }: ServiceParts,
  id: string,
): Promise<{ connection: Connection; integration: Integration | undefined }> {
  const connection = (await connections.list()).find((candidate) => candidate.id === id);
  if (connection === undefined) throw new ServiceError(404, "connection_not_found", "There is no such connection.");
  return { connection, integration: catalog.integrations.find(({ slug }) => slug === connection.integration) };
}
