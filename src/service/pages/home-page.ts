import { html } from "hono/html";
import type { Connection } from "../connections/connections.ts";
import type { ApiKeyRow } from "../store/schema.ts";
import { logRow, type NamedExecution } from "./log-row.ts";
import { type Markup, noticeLine } from "./page.ts";
import { connectionTag } from "./state-tag.ts";
import { timeTag } from "./time-tag.ts";

/** A connection and the name of its app. */
export interface NamedConnection {
  readonly connection: Connection;
  readonly app: string;
}

/** Something that waits for the owner, and where he deals with it. */
export interface Errand {
  readonly title: string;
  readonly text: string;
  readonly href: string;
  readonly action: string;
  /** True when somebody's work stands still until he does. */
  readonly isUrgent: boolean;
}

/** Devices shown on the home page; the devices page has all. */
const MAX_DEVICES = 5;

/** What waits for the owner, what is connected, who may use it, and what happened last. */
export function homeBody(o: {
  errands: readonly Errand[];
  devices: readonly ApiKeyRow[];
  connections: readonly NamedConnection[];
  recent: readonly NamedExecution[];
  now: number;
}): Markup {
  return html`<h1>Home</h1>
${o.errands.length === 0 ? noticeLine("Nothing waits for you.") : errandsCard(o.errands)}
<div class="columns">
${connectionsCard(o.connections)}
${devicesCard(o.devices, o.now)}
</div>
<section class="card" aria-labelledby="recent">
<div class="title"><h2 id="recent">What happened last</h2><a href="/log">Execution log</a></div>
${
  o.recent.length === 0
    ? html`<p class="muted">Nothing was executed yet. What agents do with your apps is listed here.</p>`
    : html`<ul class="rows">${o.recent.map((execution) => logRow(execution, o.now))}</ul>`
}
</section>`;
}

function errandsCard(errands: readonly Errand[]): Markup {
  return html`<section class="card" aria-labelledby="errands">
<h2 id="errands">Waiting for you</h2>
<ul class="rows">${errands.map(
    (errand) =>
      html`<li><div><strong>${errand.title}</strong><span class="muted">${errand.text}</span></div><a class="button${errand.isUrgent ? " primary" : ""}" href="${errand.href}">${errand.action}</a></li>`,
  )}</ul>
</section>`;
}

function connectionsCard(connections: readonly NamedConnection[]): Markup {
  return html`<section class="card" aria-labelledby="connections">
<div class="title"><h2 id="connections">Connections</h2><a href="/connections">Manage</a></div>
${
  connections.length === 0
    ? html`<p class="muted">No app is connected. Agents can do nothing yet.</p>`
    : html`<ul class="rows">${connections.map(
        ({ connection, app }) =>
          html`<li><div><strong><a href="/connections/${connection.id}">${connection.label}</a></strong><span class="muted">${app}</span></div>${connectionTag(connection.state)}</li>`,
      )}</ul>`
}
</section>`;
}

function devicesCard(devices: readonly ApiKeyRow[], now: number): Markup {
  const more = devices.length - MAX_DEVICES;
  return html`<section class="card" aria-labelledby="devices">
<div class="title"><h2 id="devices">Devices</h2><a href="/devices">Manage</a></div>
${
  devices.length === 0
    ? html`<p class="muted">No device is paired. Run <code>svc pair</code> on the device and open the link it prints.</p>`
    : html`<ul class="rows">${devices
        .slice(0, MAX_DEVICES)
        .map(
          (device) =>
            html`<li><div><strong>${device.label}</strong><span class="muted">${device.last_used_at === null ? "not used yet" : html`last used ${timeTag(device.last_used_at, now)}`}</span></div></li>`,
        )}</ul>`
}
${more > 0 ? html`<p class="muted">and ${more} more</p>` : ""}
</section>`;
}
