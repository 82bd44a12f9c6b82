import type { Hono } from "hono";
import { html } from "hono/html";
import { shortenText } from "../../../base/text.ts";
import type { SourceMark } from "../../added/source-store.ts";
import type { Connection } from "../../connections/connection.ts";
import { listMissingScopes, type MissingScope } from "../../connections/connection-form.ts";
import { readLabel } from "../../connections/connector.ts";
import type { SignInFacts } from "../../connections/sign-in/access-tokens.ts";
import type { Integration, SettingField } from "../../integrations/integration.ts";
import { ServiceError } from "../../service-error.ts";
import { ownerPages } from "../owner-browser.ts";
import { findNotice, type RouteEnv } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import { KNOWN_APP_NOTICES, knownAppsCard } from "./known-apps.ts";
import { csrfField, type Markup, noticeLine } from "./page.ts";
import { connectionTag } from "./values.ts";

const NOTICES: Readonly<Record<string, string>> = {
  ...KNOWN_APP_NOTICES,
  connected: "Connected. Agents can use it from now on.",
  reconnected: "Reconnected. Calls that were refused can be repeated.",
  "other-account":
    "Connected. The provider signed in another account than the address you typed; both stand below. If that is not meant, reconnect.",
  renamed: "The new name is saved.",
  default: "This is the default now: calls that name no connection use it.",
  disconnected: "Disconnected. Agents no longer reach it.",
  accepted: "Agreed. The actions are in use within seconds.",
  levels: "Saved. The levels are in use within seconds.",
  dismissed: "Dismissed. The actions you agreed to stay in use, the changed ones are not run.",
};

/** The list of connections and what can be done with each. */
export function addConnectionPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { addPage, addForm } = ownerPages(app, parts);
  addPage("/connections", async (c, { csrfToken }) => {
    const apps = await listApps(parts);
    const added = new Set(apps.map(({ integration }) => integration.slug));
    const known = knownAppsCard({ find: c.req.query("find") ?? "", added, csrfToken });
    const body = connectionsBody({ apps, known, notice: findNotice(NOTICES, c.req.query("notice")) });
    return { title: "Connections", body, section: "connections" };
  });
  addPage("/connections/:id", async (c, { csrfToken }) => {
    const { connection, integration } = await requireConnection(parts, c.req.param("id"));
    const notice = findNotice(NOTICES, c.req.query("notice"));
    const signIn = await parts.accessTokens.describe(connection.settings);
    const body = connectionBody({ connection, integration, csrfToken, notice, signIn });
    return { title: connection.label, body, section: "connections" };
  });
  addForm("/connections/:id/rename", async (c, { form }) => {
    const { connection } = await requireConnection(parts, c.req.param("id"));
    const label = readLabel({ label: form.get("label") ?? "" }, connection.label);
    await parts.connections.update(connection.id, { label });
    return `/connections/${connection.id}?notice=renamed`;
  });
  addForm("/connections/:id/default", async (c, { audit }) => {
    const { id, label } = await parts.connections.update(c.req.param("id"), { isDefault: true });
    audit({ event: "connection.default", did: "made the default connection of its app", name: label, id });
    return `/connections/${id}?notice=default`;
  });
  addForm("/connections/:id/disconnect", async (c, { audit }) => {
    const { connection } = await requireConnection(parts, c.req.param("id"));
    const { id, label, integration } = connection;
    await parts.connector.disconnect(connection);
    audit({ event: "connection.removed", did: `removed the connection of ${integration}`, name: label, id });
    return "/connections?notice=disconnected";
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

/** An app and its connections. */
interface ConnectedApp {
  readonly integration: Pick<Integration, "slug" | "name" | "description" | "stopped">;
  readonly connections: readonly Connection[];
  /** False when the app is no longer installed and only its connections are left. */
  readonly isInstalled: boolean;
  /** Undefined for an app that was not added by the owner. */
  readonly added: SourceMark | undefined;
}

const KINDS: Readonly<Record<string, string>> = {
  mcp: "MCP server",
  openapi: "OpenAPI document",
};

/** Every app with its connections, and a way to connect it. */
function connectionsBody(o: { apps: readonly ConnectedApp[]; known: Markup; notice: string | undefined }): Markup {
  return html`<h1>Connections</h1>
<p class="lead">An agent reaches only what is connected here.</p>
${noticeLine(o.notice)}
${o.apps.map(appCard)}
${o.known}`;
}

function appCard({ integration, connections, isInstalled, added }: ConnectedApp): Markup {
  const { slug, name, description, stopped } = integration;
  const hasNoDefault = connections.length > 1 && !connections.some((connection) => connection.isDefault);
  return html`<section class="card" aria-labelledby="app-${slug}">
<div class="title"><h2 id="app-${slug}">${name}</h2>${
    isInstalled && stopped === undefined
      ? html`<a href="/connect/${slug}">${connections.length === 0 ? "Connect" : "Connect another"}<span class="hidden"> ${name}</span></a>`
      : ""
  }</div>
${stopped === undefined ? html`<p class="muted">${description}${addedFrom(integration, added)}</p>` : stoppedNotice(stopped)}
${proposalNote(name, added)}
${hasNoDefault ? html`<p class="notice warn">None of these is the default, so a call must name its connection. Open one to make it the default.</p>` : ""}
${connections.length === 0 ? "" : html`<ul class="rows">${connections.map((one) => connectionRow(one, stopped !== undefined))}</ul>`}
</section>`;
}

function addedFrom({ slug, name }: Pick<Integration, "slug" | "name">, added: SourceMark | undefined): Markup {
  if (added === undefined) return html``;
  return html` Added from: ${KINDS[added.kind]}. Commands call it <code>${slug}</code>. <a href="/apps/${slug}/review">Levels<span class="hidden"> of ${name}</span></a>`;
}

function proposalNote(name: string, added: SourceMark | undefined): Markup {
  if (added === undefined || added.proposal === "none") return html``;
  const path = `/apps/${added.slug}/review`;
  if (added.isDismissed) {
    return html`<p class="muted">It offers other actions than you agreed to. <a href="${path}">Look again<span class="hidden"> at the changes of ${name}</span></a></p>`;
  }
  const text =
    added.proposal === "additions"
      ? "It offers new actions; the ones you agreed to are the same as before."
      : "It changed its actions. The changed ones are not run until you agree.";
  return html`<div class="notice warn"><p>${text}</p><p><a class="button" href="${path}">Review<span class="hidden"> the changes of ${name}</span></a></p></div>`;
}

function connectionRow(connection: Connection, isStopped: boolean): Markup {
  return html`<li><div><strong><a href="/connections/${connection.id}">${connection.label}</a></strong><span class="muted"><code>${connection.id}</code>${connection.isDefault ? " · default" : ""}</span></div>
${connectionTag(isStopped ? "error" : connection.state)}</li>`;
}

interface ConnectionPage {
  readonly connection: Connection;
  /** Undefined when the app is no longer installed. */
  readonly integration: Integration | undefined;
  readonly csrfToken: string;
  readonly notice: string | undefined;
  /** At its provider. */
  readonly signIn: SignInFacts | undefined;
}

/** One connection: its settings, its access, and everything the owner can change. */
function connectionBody(o: ConnectionPage): Markup {
  const { connection, integration, csrfToken, signIn } = o;
  const missing = integration === undefined ? [] : listMissingScopes(integration, connection);
  const path = `/connections/${connection.id}`;
  return html`<h1>${connection.label}</h1>
<p class="lead">${integration?.name ?? connection.integration} · ${connectionTag(integration?.stopped === undefined ? connection.state : "error")}${connection.isDefault ? " · default" : ""}</p>
${noticeLine(o.notice)}
${integration?.stopped === undefined ? stateNotice(connection, path, signIn?.ended) : stoppedNotice(integration.stopped)}
<section class="card" aria-labelledby="facts">
<h2 id="facts">What it reaches</h2>
<dl>
<dt>Id</dt><dd><code>${connection.id}</code></dd>
${signIn === undefined ? "" : signInFacts(signIn, integration)}
${(integration?.settingsForm ?? []).map((field) => settingFact(field, connection))}
<dt>Access</dt><dd>${integration?.stopped !== undefined ? "None" : missing.length === 0 ? "Everything the app offers" : "Limited"}</dd>
</dl>
${missingList(missing)}
<div class="actions">
${integration === undefined || integration.stopped !== undefined ? "" : html`<a class="button" href="${path}/reconnect">Change settings</a>`}
<a href="/log?connection=${connection.id}">See what was done with it</a>
</div>
</section>
<section class="card" aria-labelledby="manage">
<h2 id="manage">Manage</h2>
<form class="inline" method="post" action="${path}/rename">${csrfField(csrfToken)}
<div><label for="label">Name</label><input id="label" name="label" value="${connection.label}" maxlength="60" required autocomplete="off"></div>
<button>Rename</button></form>
<div class="actions">
${
  connection.isDefault
    ? ""
    : html`<form method="post" action="${path}/default">${csrfField(csrfToken)}<button>Make default</button></form>`
}
<details><summary>Disconnect</summary>
<p class="muted">Agents lose access at once. What the app holds stays where it is; the service forgets the settings.</p>
<form method="post" action="${path}/disconnect">${csrfField(csrfToken)}<button class="danger">Disconnect ${connection.label}</button></form>
</details>
</div>
</section>`;
}

/** Scopes that were not granted, with the actions that need them; nothing when all were. */
export function missingList(missing: readonly MissingScope[]): Markup {
  if (missing.length === 0) return html``;
  return html`<p>Not granted:</p>
<ul>${missing.map(
    ({ scope, neededBy }) =>
      html`<li><code>${scope}</code>${neededBy.length === 0 ? "" : html`, needed by: ${neededBy.join(", ")}`}</li>`,
  )}</ul>`;
}

/** Says why an app cannot be used, and the next step. */
function stoppedNotice(stopped: string): Markup {
  return html`<div class="notice bad"><p><strong>This app stopped working.</strong> ${stopped}</p></div>`;
}

function stateNotice({ state, label }: Connection, path: string, ended: string | undefined): Markup {
  if (state === "healthy") return html``;
  const text =
    ended !== undefined
      ? html`<p><strong>${ended}</strong></p><p>Until you sign in again, calls to it are refused.</p>`
      : state === "reauth_required"
        ? html`<p>The app refused the access of “${label}”. Until it is reconnected, calls to it are refused.</p>`
        : html`<p>“${label}” does not work at the moment: it is down, or its settings are wrong. Until it works, calls to it are refused.</p>`;
  const button = ended === undefined ? "Reconnect" : "Sign in again";
  return html`<div class="notice ${state === "error" ? "bad" : "warn"}">${text}<p><a class="button primary" href="${path}/reconnect">${button}</a></p></div>`;
}

function signInFacts({ account, provider, scopes }: SignInFacts, integration: Integration | undefined): Markup {
  // Rights that were chosen in the form are shown in its words.
  const isShown = scopes.length > 0 && integration?.settingsForm?.some(({ kind }) => kind === "scopes") !== true;
  return html`<dt>Signed in</dt><dd>${account === undefined ? "" : `${account} `}at ${provider}</dd>
${isShown ? html`<dt>Rights</dt><dd>${scopes.join(", ")}</dd>` : ""}`;
}

/** A setting as the owner may see it; nothing for an optional one that was left empty. */
function settingFact({ name, label, kind, options, optional }: SettingField, { settings }: Connection): Markup {
  const value = settings[name];
  if (kind === "secret" && (typeof value === "string" || optional !== true)) {
    return html`<dt>${label}</dt><dd>${typeof value === "string" ? "Kept, encrypted" : "Missing"}</dd>`;
  }
  const shown = options?.find((one) => one.value === value)?.label ?? value;
  return typeof shown === "string" ? html`<dt>${label}</dt><dd>${shortenText(shown, 200)}</dd>` : html``;
}
