import type { Hono } from "hono";
import { html } from "hono/html";
import type { Integration } from "../../../apps/port/integration.ts";
import { foldText, shortenToSentence, toSearchWords } from "../../../shared/base/text.ts";
import type { SourceMark } from "../../added/source-store.ts";
import type { Connection } from "../../connections/connection.ts";
import { readLabel } from "../../connections/connector.ts";
import { ServiceError } from "../../service-error.ts";
import { ownerPages } from "../owner-browser.ts";
import { findNotice, type RouteEnv } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import { connectionBody, stoppedNotice } from "./connection-page.ts";
import { KNOWN_APP_NOTICES, knownAppsCard } from "./known-apps.ts";
import { csrfField, type Markup, noticeLine } from "./page.ts";
import { listUntried } from "./untried.ts";
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
    const find = c.req.query("find")?.slice(0, MAX_FIND) ?? "";
    const all = await listApps(parts);
    const apps = searchApps(all, find);
    const added = new Set(all.map(({ integration }) => integration.slug));
    const body = connectionsBody({
      find,
      apps,
      count: all.length,
      untried: await listUntried(
        parts,
        apps.flatMap(({ connections }) => connections),
      ),
      isFirst: parts.connector.isFirstApp,
      csrfToken,
      known: knownAppsCard({ find, added, csrfToken }),
      notice: findNotice(NOTICES, c.req.query("notice")),
    });
    return { title: "Connections", body, section: "connections" };
  });
  addPage("/connections/:id", async (c, { csrfToken }) => {
    const { connection, integration } = await requireConnection(parts, c.req.param("id"));
    const notice = findNotice(NOTICES, c.req.query("notice"));
    const signIn = await parts.accessTokens.describe(connection.settings);
    const isUntried = (await listUntried(parts, [connection])).has(connection.id);
    const body = connectionBody({ connection, integration, csrfToken, notice, signIn, isUntried });
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

/** Longest text that is searched for, in characters. */
const MAX_FIND = 60;

/** Apps that have every word in their name, what they say of themselves, or the name of a connection. */
function searchApps(apps: readonly ConnectedApp[], find: string): readonly ConnectedApp[] {
  const words = toSearchWords(find);
  return apps.filter(({ integration: { slug, name, description }, connections }) => {
    const own = connections.flatMap(({ id, label }) => [id, label]);
    const text = foldText([slug, name, description, ...own].join("\n"));
    return words.every((word) => text.includes(word));
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

interface ConnectionsPage {
  readonly find: string;
  readonly apps: readonly ConnectedApp[];
  /** Of all apps. */
  readonly count: number;
  /** Ids of connections that nobody knows to work. */
  readonly untried: ReadonlySet<string>;
  /** True for a connection that the first start made. */
  readonly isFirst: (connection: Connection) => boolean;
  readonly csrfToken: string;
  readonly known: Markup;
  readonly notice: string | undefined;
}

/** Every app with its connections, and a way to connect it. */
function connectionsBody(o: ConnectionsPage): Markup {
  return html`<h1>Connections</h1>
<p class="lead">An agent reaches only what is connected here.</p>
${noticeLine(o.notice)}
<form class="inline find" method="get" action="/connections" role="search">
<div><label for="find">Find an app or a connection</label><input id="find" name="find" type="search" value="${o.find}" maxlength="${MAX_FIND}" autocomplete="off"></div>
<button>Search</button></form>
${o.find === "" ? "" : html`<p role="status">${o.apps.length} of your ${o.count} apps. <a href="/connections">Show all</a></p>`}
${o.apps.map((app) => appCard(app, o))}
${o.known}`;
}

/** Longest description of an app in the list, in characters; the form that connects it has all. */
const MAX_ABOUT = 240;

function appCard({ integration, connections, isInstalled, added }: ConnectedApp, o: ConnectionsPage): Markup {
  const { slug, name, description, stopped } = integration;
  const hasNoDefault = connections.length > 1 && !connections.some((connection) => connection.isDefault);
  return html`<section class="card" aria-labelledby="app-${slug}">
<div class="title"><h2 id="app-${slug}">${name}</h2>${
    isInstalled && stopped === undefined
      ? html`<a href="/connect/${slug}">${connections.length === 0 ? "Connect" : "Connect another"}<span class="hidden"> ${name}</span></a>`
      : ""
  }</div>
${stopped === undefined ? html`<p class="muted about">${shortenToSentence(description, MAX_ABOUT)}</p>${addedFrom(integration, added)}` : stoppedNotice(stopped)}
${proposalNote(name, added)}
${hasNoDefault ? html`<p class="notice warn">None of these is the default, so a call must name its connection. Open one to make it the default.</p>` : ""}
${connections.length === 0 ? "" : html`<ul class="rows">${connections.map((one) => connectionRow(one, { isStopped: stopped !== undefined, isUntried: o.untried.has(one.id) }))}</ul>`}
${connections.length < 2 ? "" : connections.filter(o.isFirst).map((first) => putAwayForm(first, o.csrfToken))}
</section>`;
}

/** For the folder that the first start connected, once there is another account beside it. */
function putAwayForm({ id, label }: Connection, csrfToken: string): Markup {
  return html`<form method="post" action="/connections/${id}/disconnect">${csrfField(csrfToken)}
<p class="notice">"${label}" is the folder that the service came with. If you do not use it beside the other, put it away: its files stay where they are. <button>Put it away</button></p></form>`;
}

function addedFrom({ slug, name }: Pick<Integration, "slug" | "name">, added: SourceMark | undefined): Markup {
  if (added === undefined) return html``;
  return html`<p class="muted">Added from: ${KINDS[added.kind]}. Commands call it <code>${slug}</code>. <a href="/apps/${slug}/review">Levels<span class="hidden"> of ${name}</span></a></p>`;
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

function connectionRow(connection: Connection, o: { isStopped: boolean; isUntried: boolean }): Markup {
  return html`<li><div><strong><a href="/connections/${connection.id}">${connection.label}</a></strong><span class="muted"><code>${connection.id}</code>${connection.isDefault ? " · default" : ""}</span></div>
${connectionTag(o.isStopped ? "error" : connection.state, o.isUntried)}</li>`;
}
