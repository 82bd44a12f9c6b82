import { html } from "hono/html";
import type { Connection } from "../connections/connections.ts";
import type { ApiKeyRow } from "../store/schema.ts";
import { describeTime } from "./describe-time.ts";
import { csrfField, type Markup } from "./page.ts";

/** Paired devices, with a way to revoke each, and connections. */
export function homeBody(o: {
  devices: readonly ApiKeyRow[];
  connections: readonly { readonly connection: Connection; readonly app: string }[];
  csrfToken: string;
  now: number;
  notice?: string | undefined;
}): Markup {
  return html`${o.notice === undefined ? "" : html`<p class="notice" role="status">${o.notice}</p>`}
<h1>Your service</h1>
<section class="card" aria-labelledby="devices">
<h2 id="devices">Paired devices</h2>
${
  o.devices.length === 0
    ? html`<p class="muted">No device is paired. Run <code>svc pair</code> on the device and open the link it prints.</p>`
    : html`<ul class="rows">${o.devices.map((device) => deviceRow(device, o))}</ul>`
}
</section>
<section class="card" aria-labelledby="connections">
<h2 id="connections">Connections</h2>
${
  o.connections.length === 0
    ? html`<p class="muted">No app is connected.</p>`
    : html`<ul class="rows">${o.connections.map(({ connection, app }) => connectionRow(connection, app))}</ul>`
}
</section>`;
}

function deviceRow(device: ApiKeyRow, { csrfToken, now }: { csrfToken: string; now: number }): Markup {
  const used = device.last_used_at === null ? "not used yet" : `last used ${describeTime(device.last_used_at, now)}`;
  return html`<li><div><strong>${device.label}</strong><span class="muted">Key ends in <code>${device.last_four}</code> · paired ${describeTime(device.created_at, now)} · ${used}</span></div>
<details><summary aria-label="Revoke ${device.label}">Revoke</summary>
<p class="muted">The device is refused at once and must be paired again.</p>
<form method="post" action="/devices/${device.id}/revoke">${csrfField(csrfToken)}<button class="danger">Revoke ${device.label}</button></form>
</details></li>`;
}

const STATE_TEXT = { healthy: "Connected", reauth_required: "Sign-in needed", error: "Needs attention" } as const;

function connectionRow(connection: Connection, app: string): Markup {
  return html`<li><div><strong>${connection.label}</strong><span class="muted">${app} · <code>${connection.id}</code>${connection.isDefault ? " · default" : ""}</span></div>
<span class="tag">${STATE_TEXT[connection.state]}</span></li>`;
}
