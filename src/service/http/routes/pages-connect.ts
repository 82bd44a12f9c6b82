import type { Hono } from "hono";
import { appStopped } from "../../catalog/not-found.ts";
import {
  type ConnectionForm,
  type FormProblems,
  listMissingScopes,
  readSettings,
} from "../../connections/connection-form.ts";
import type { Connection } from "../../connections/connections.ts";
import { toProblems } from "../../connections/connector.ts";
import type { Integration } from "../../integrations/integration.ts";
import { ServiceError } from "../../service-error.ts";
import type { RouteEnv } from "../guard.ts";
import { askToSignIn, findOwner, readOwnForm } from "../owner-browser.ts";
import { connectBody, continueBody, reconnectBody } from "../pages/connect-page.ts";
import { sendPage } from "../pages/page.ts";
import type { ServiceParts } from "../service-parts.ts";
import { requireConnection } from "./pages-connections.ts";

/** The forms that connect and reconnect an app. Invalid input is shown again with its problems. */
export function addConnectPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  addConnectForm(app, parts);
  addReconnectForm(app, parts);
}

function addConnectForm(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const page = { section: "connections" } as const;
  app.get("/connect/:slug", async (c) => {
    const owner = await findOwner(c, parts);
    if (owner === undefined) return askToSignIn(c, parts);
    const { csrfToken } = owner;
    const integration = requireIntegration(parts, c.req.param("slug"));
    const connections = await parts.connections.list(integration.slug);
    const known = connections.find((connection) => connection.isDefault);
    // Nobody wants the empty folder of the first start once there is a real account.
    const isDefault = known !== undefined && parts.connector.isFirstApp(known);
    const body = connectBody({
      integration,
      form: { label: connections.length === 0 ? integration.name : "", access: "full", values: {}, isDefault },
      defaultLabel: known?.label,
      problems: new Map(),
      csrfToken,
      redirectUri: parts.providerSignIns.redirectUri,
      unwell: connections.filter((connection) => connection.state !== "healthy"),
    });
    return sendPage(c, { ...page, title: `Connect ${integration.name}`, body, csrfToken });
  });
  app.post("/connect/:slug", async (c) => {
    const { owner, form: sent } = await readOwnForm(c, parts);
    const integration = requireIntegration(parts, c.req.param("slug"));
    const form = readForm(sent, integration);
    const { csrfToken } = owner;
    const result = sent.has("sign-in")
      ? await beginSignIn(parts, { integration, form, csrfToken, connection: undefined })
      : await parts.connector.connect(integration, form);
    if (result.ok && "url" in result)
      return sendPage(c, { ...page, ...continuePage(integration, result.url), csrfToken });
    if (result.ok) return c.redirect("/connections?notice=connected", 303);
    const { redirectUri } = parts.providerSignIns;
    const known = (await parts.connections.list(integration.slug)).find((connection) => connection.isDefault);
    const shown = { integration, form, defaultLabel: known?.label };
    const body = connectBody({ ...shown, problems: result.problems, csrfToken, redirectUri, unwell: [] });
    return sendPage(c, { ...page, title: `Connect ${integration.name}`, body, csrfToken, status: 400 });
  });
}

function addReconnectForm(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const page = { section: "connections" } as const;
  app.get("/connections/:id/reconnect", async (c) => {
    const owner = await findOwner(c, parts);
    if (owner === undefined) return askToSignIn(c, parts);
    const { csrfToken } = owner;
    const { connection, integration } = await requireReconnectable(parts, c.req.param("id"));
    const form = showSettings(integration, connection);
    const { redirectUri } = parts.providerSignIns;
    const body = reconnectBody({ integration, connection, form, problems: new Map(), csrfToken, redirectUri });
    return sendPage(c, { ...page, title: `Reconnect ${connection.label}`, body, csrfToken });
  });
  app.post("/connections/:id/reconnect", async (c) => {
    const { owner, form: sent } = await readOwnForm(c, parts);
    const { connection, integration } = await requireReconnectable(parts, c.req.param("id"));
    const form = readForm(sent, integration);
    const { csrfToken } = owner;
    const result = sent.has("sign-in")
      ? await beginSignIn(parts, { integration, form, csrfToken, connection })
      : await parts.connector.reconnect(integration, connection, form);
    if (result.ok && "url" in result)
      return sendPage(c, { ...page, ...continuePage(integration, result.url), csrfToken });
    if (result.ok) return c.redirect(`/connections/${connection.id}?notice=reconnected`, 303);
    const { redirectUri } = parts.providerSignIns;
    const body = reconnectBody({ integration, connection, form, problems: result.problems, csrfToken, redirectUri });
    return sendPage(c, { ...page, title: `Reconnect ${connection.label}`, body, csrfToken, status: 400 });
  });
}

/** Keeps the form and finds the sign-in address, or the problems of the form. */
async function beginSignIn(
  { providerSignIns }: ServiceParts,
  o: { integration: Integration; form: ConnectionForm; csrfToken: string; connection: Connection | undefined },
): Promise<{ ok: true; url: URL } | { ok: false; problems: FormProblems }> {
  const { integration, form, connection } = o;
  const { settings, problems } = readSettings(integration.settingsForm ?? [], form.values, connection?.settings);
  if (problems.size > 0) return { ok: false, problems };
  try {
    const order = { slug: integration.slug, form, ...(connection !== undefined && { connectionId: connection.id }) };
    const url = await providerSignIns.begin(integration, settings, { ...order, browser: o.csrfToken });
    return url === undefined ? { ok: false, problems: new Map([["", NO_PAGE]]) } : { ok: true, url };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { ok: false, problems: toProblems(integration, error) };
  }
}

const NO_PAGE = "This app has no page to sign in on.";

/** A form must not lead to another site, a link may. */
function continuePage({ name }: Integration, url: URL) {
  return { title: `Sign in to ${name}`, body: continueBody({ name, url }) };
}

/** @throws ServiceError 404 `integration_not_found`, 422 when the app stopped working. */
export function requireIntegration({ catalog }: ServiceParts, slug: string): Integration {
  const integration = catalog.integrations.find((candidate) => candidate.slug === slug);
  if (integration?.stopped !== undefined) throw appStopped(integration);
  if (integration !== undefined) return integration;
  throw new ServiceError(404, "integration_not_found", "There is no such app. The connections page lists all of them.");
}

/** @throws ServiceError 404 `connection_not_found`, 409 when its app is gone, 422 when that stopped working. */
export async function requireReconnectable(
  parts: ServiceParts,
  id: string,
): Promise<{ connection: Connection; integration: Integration }> {
  const { connection, integration } = await requireConnection(parts, id);
  if (integration?.stopped !== undefined) throw appStopped(integration);
  if (integration !== undefined) return { connection, integration };
  const message = `“${connection.label}” belongs to an app that is no longer installed. It can only be disconnected.`;
  throw new ServiceError(409, "integration_not_found", message);
}

function readForm(sent: URLSearchParams, { settingsForm = [] }: Integration): ConnectionForm {
  return {
    label: sent.get("label") ?? "",
    access: sent.get("access") === "read" ? "read" : "full",
    isDefault: sent.get("default") === "yes",
    values: Object.fromEntries(settingsForm.map(({ name }) => [name, sent.get(`set.${name}`) ?? ""])),
  };
}

function showSettings(integration: Integration, connection: Connection): ConnectionForm {
  const texts = (integration.settingsForm ?? []).flatMap(({ name, kind }) => {
    const value = connection.settings[name];
    return kind !== "secret" && typeof value === "string" ? [[name, value] as const] : [];
  });
  return {
    label: connection.label,
    access: listMissingScopes(integration, connection).length === 0 ? "full" : "read",
    values: Object.fromEntries(texts),
  };
}
