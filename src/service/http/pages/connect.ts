import type { Context, Hono } from "hono";
import { cleanText } from "../../../base/text.ts";
import { appStopped } from "../../catalog/not-found.ts";
import {
  type ConnectionForm,
  type FormProblems,
  listMissingScopes,
  readSettings,
} from "../../connections/connection-form.ts";
import type { Connection } from "../../connections/connections.ts";
import { toProblems } from "../../connections/connector.ts";
import type { SignInOrder } from "../../connections/grants/provider-sign-ins.ts";
import type { Integration } from "../../integrations/integration.ts";
import { ServiceError } from "../../service-error.ts";
import { ownerPages } from "../owner-browser.ts";
import type { RouteEnv } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import { connectBody, continueBody, reconnectBody } from "./connect-form.ts";
import { requireConnection } from "./connections.ts";
import type { Page } from "./page.ts";

/** Redirect address of providers after the owner signed in there. */
export const SIGNED_IN_PATH = "/signed-in";

/** The app, and the connection, that a form is for. */
interface Target {
  readonly integration: Integration;
  /** The connection to reconnect; undefined for a new one. */
  readonly connection: Connection | undefined;
}

/** The forms that connect and reconnect an app, and the return from a provider. Invalid input is shown again with its problems. */
export function addConnectPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  addForms(app, parts, { path: "/connect/:id", find: async (slug) => findNew(parts, slug) });
  addForms(app, parts, { path: "/connections/:id/reconnect", find: (id) => findReconnectable(parts, id) });
  addReturnPage(app, parts);
}

function addForms(
  app: Hono<RouteEnv>,
  parts: ServiceParts,
  { path, find }: { path: "/connect/:id" | "/connections/:id/reconnect"; find: (id: string) => Promise<Target> },
): void {
  const { addPage, addForm } = ownerPages(app, parts);
  addPage(path, async (c, { csrfToken }) => formPage(parts, await find(c.req.param("id")), { csrfToken }));
  addForm(path, async (c, { owner: { csrfToken }, form: sent }) => {
    const target = await find(c.req.param("id"));
    const form = readForm(sent, target.integration);
    const result = sent.has("sign-in")
      ? await beginSignIn(parts, target, { form, csrfToken })
      : await connect(parts, target, form);
    if (!result.ok) return formPage(parts, target, { csrfToken, refused: { form, problems: result.problems } });
    if (!("url" in result)) return donePath(target);
    // A form must not lead to another site, a link may.
    const { name } = target.integration;
    const body = continueBody({ name, url: result.url });
    return { title: `Sign in to ${name}`, body, section: "connections" };
  });
}

/** The form, empty or with the settings so far; as it was sent when that was `refused`. */
async function formPage(
  parts: ServiceParts,
  { integration, connection }: Target,
  { csrfToken, refused }: { csrfToken: string; refused?: { form: ConnectionForm; problems: FormProblems } },
): Promise<Page> {
  const { redirectUri } = parts.providerSignIns;
  const shared = { integration, csrfToken, redirectUri, problems: refused?.problems ?? new Map() };
  const page = { section: "connections", status: refused === undefined ? 200 : 400 } as const;
  if (connection !== undefined) {
    const form = refused?.form ?? showSettings(integration, connection);
    return { ...page, title: `Reconnect ${connection.label}`, body: reconnectBody({ ...shared, form, connection }) };
  }
  const connections = await parts.connections.list(integration.slug);
  const known = connections.find(({ isDefault }) => isDefault);
  const empty: ConnectionForm = {
    label: connections.length === 0 ? integration.name : "",
    access: "full",
    values: {},
    // Nobody wants the empty folder of the first start once there is a real account.
    isDefault: known !== undefined && parts.connector.isFirstApp(known),
  };
  const body = connectBody({
    ...shared,
    form: refused?.form ?? empty,
    defaultLabel: known?.label,
    unwell: refused === undefined ? connections.filter(({ state }) => state !== "healthy") : [],
  });
  return { ...page, title: `Connect ${integration.name}`, body };
}

function connect({ connector }: ServiceParts, { integration, connection }: Target, form: ConnectionForm) {
  return connection === undefined
    ? connector.connect(integration, form)
    : connector.reconnect(integration, connection, form);
}

function donePath({ connection }: Target): string {
  return connection === undefined
    ? "/connections?notice=connected"
    : `/connections/${connection.id}?notice=reconnected`;
}

/** Keeps the form and finds the sign-in address, or the problems of the form. */
async function beginSignIn(
  { providerSignIns }: ServiceParts,
  { integration, connection }: Target,
  { form, csrfToken }: { form: ConnectionForm; csrfToken: string },
): Promise<{ ok: true; url: URL } | { ok: false; problems: FormProblems }> {
  const { settings, problems } = readSettings(integration.settingsForm ?? [], form.values, connection?.settings);
  if (problems.size > 0) return { ok: false, problems };
  try {
    const order = { slug: integration.slug, form, ...(connection !== undefined && { connectionId: connection.id }) };
    const url = await providerSignIns.begin(integration, settings, { ...order, browser: csrfToken });
    if (url !== undefined) return { ok: true, url };
    return { ok: false, problems: new Map([["", "This app has no page to sign in on."]]) };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { ok: false, problems: toProblems(integration, error) };
  }
}

/** @throws ServiceError 404 `integration_not_found`, 422 when the app stopped working. */
function findNew({ catalog }: ServiceParts, slug: string): Target {
  const integration = catalog.integrations.find((candidate) => candidate.slug === slug);
  if (integration?.stopped !== undefined) throw appStopped(integration);
  if (integration !== undefined) return { integration, connection: undefined };
  throw new ServiceError(404, "integration_not_found", "There is no such app. The connections page lists all of them.");
}

/** @throws ServiceError 404 `connection_not_found`, 409 when its app is gone, 422 when that stopped working. */
async function findReconnectable(parts: ServiceParts, id: string): Promise<Target> {
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

/** The return from a provider: it counts once, in the browser that began the sign-in. */
function addReturnPage(app: Hono<RouteEnv>, parts: ServiceParts): void {
  ownerPages(app, parts).addPage(SIGNED_IN_PATH, async (c, { csrfToken }) => {
    const begun = await parts.providerSignIns.take(c.req.query("state") ?? "", csrfToken);
    if (begun === undefined) {
      const message =
        "This sign-in was not begun in this browser, is over, or took too long. Begin again on the connections page.";
      throw new ServiceError(409, "conflict", message);
    }
    const { slug, connectionId, form } = begun;
    const target = connectionId === undefined ? findNew(parts, slug) : await findReconnectable(parts, connectionId);
    const problems = await finish(parts, { ...target, begun, code: c.req.query("code"), refusal: describeRefusal(c) });
    if (problems !== undefined) return formPage(parts, target, { csrfToken, refused: { form, problems } });
    return c.redirect(donePath(target), 303);
  });
}

const WORDS_MAX = 200;

function describeRefusal(c: Context<RouteEnv>): string {
  const words = cleanText(c.req.query("error_description") ?? c.req.query("error"), WORDS_MAX);
  return words === null ? "The provider sent no code." : `The provider refused: ${words}`;
}

type Finish = Target & {
  readonly begun: SignInOrder & { readonly verifier: string };
  readonly code: string | undefined;
  readonly refusal: string;
};

/** Gets the tokens, keeps them and connects the app; the problems, or undefined. */
async function finish(parts: ServiceParts, { integration, connection, begun, code, refusal }: Finish) {
  if (code === undefined) return new Map([["", refusal]]);
  const { form, verifier } = begun;
  const fields = integration.settingsForm ?? [];
  const { settings } = readSettings(fields, form.values, connection?.settings);
  try {
    const given = await parts.providerSignIns.exchange(integration, settings, { code, verifier });
    const names = integration.findSignIn?.(settings)?.settings;
    if (names === undefined) return new Map([["", refusal]]);
    const { refreshToken, accessToken } = given;
    const values = {
      ...form.values,
      [names.refreshToken]: refreshToken ?? "",
      [names.accessToken]: refreshToken === undefined ? accessToken : "",
    };
    if (refreshToken !== undefined) {
      await parts.accessTokens.adopt(integration, readSettings(fields, values, settings).settings, given);
    }
    const typed = { ...form, values };
    const result =
      connection === undefined
        ? await parts.connector.connect(integration, typed)
        : await parts.connector.reconnect(integration, connection, typed, Object.values(names));
    return result.ok ? undefined : result.problems;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return toProblems(integration, error);
  }
}
