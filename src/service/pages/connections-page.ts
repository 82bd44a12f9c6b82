import { html } from "hono/html";
import type { Connection } from "../connections/connections.ts";
import type { Integration } from "../integrations/integration.ts";
import type { SourceMark } from "../sources/source-store.ts";
import { type Markup, noticeLine } from "./page.ts";
import { connectionTag } from "./state-tag.ts";

/** An app and its connections. */
export interface ConnectedApp {
  readonly integration: Pick<Integration, "slug" | "name" | "description">;
  readonly connections: readonly Connection[];
  /** False when the app is no longer installed and only its connections are left. */
  readonly isInstalled: boolean;
  /** Undefined for an app that was not added by the owner. */
  readonly added: SourceMark | undefined;
}

const KINDS: Readonly<Record<SourceMark["kind"], string>> = {
  mcp: "MCP server",
  openapi: "OpenAPI document",
  piece: "community connector",
};

/** Every app with its connections, and a way to connect it. */
export function connectionsBody(o: { apps: readonly ConnectedApp[]; notice: string | undefined }): Markup {
  return html`<h1>Connections</h1>
<p class="lead">An agent reaches only what is connected here.</p>
${noticeLine(o.notice)}
${o.apps.map(appCard)}`;
}

function appCard({ integration, connections, isInstalled, added }: ConnectedApp): Markup {
  const { slug, name, description } = integration;
  const hasNoDefault = connections.length > 1 && !connections.some((connection) => connection.isDefault);
  return html`<section class="card" aria-labelledby="app-${slug}">
<div class="title"><h2 id="app-${slug}">${name}</h2>${
    isInstalled
      ? html`<a href="/connect/${slug}">${connections.length === 0 ? "Connect" : "Connect another"}<span class="hidden"> ${name}</span></a>`
      : ""
  }</div>
<p class="muted">${description}${added === undefined ? "" : html` Added from: ${KINDS[added.kind]}. Commands call it <code>${slug}</code>.`}</p>
${proposalNote(name, added)}
${hasNoDefault ? html`<p class="notice warn">None of these is the default, so a call must name its connection. Open one to make it the default.</p>` : ""}
${connections.length === 0 ? "" : html`<ul class="rows">${connections.map(connectionRow)}</ul>`}
</section>`;
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

function connectionRow(connection: Connection): Markup {
  return html`<li><div><strong><a href="/connections/${connection.id}">${connection.label}</a></strong><span class="muted"><code>${connection.id}</code>${connection.isDefault ? " · default" : ""}</span></div>
${connectionTag(connection.state)}</li>`;
}
