import { html } from "hono/html";
import type { ApiKeyRow } from "../store/schema.ts";
import { describeClient } from "./approval-page.ts";
import { oauthAppsSection } from "./oauth-page.ts";
import { csrfField, type Markup, noticeLine } from "./page.ts";
import { timeTag } from "./time-tag.ts";

interface DevicesPage {
  readonly devices: readonly ApiKeyRow[];
  readonly apps: Parameters<typeof oauthAppsSection>[0];
  readonly csrfToken: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly notice: string | undefined;
}

/** Every live key with what it belongs to, and a way to revoke it. */
export function devicesBody(o: DevicesPage): Markup {
  return html`<h1>Devices and keys</h1>
<p class="lead">Every device or client that was let in has a key of its own.</p>
${noticeLine(o.notice)}
<section class="card" aria-label="Keys">
${
  o.devices.length === 0
    ? html`<p class="muted">No device is paired. Run <code>svc pair</code> on the device, or <code>svc install</code> for an agent client, and open the link it prints.</p>`
    : html`<ul class="rows">${o.devices.map((device) => deviceRow(device, o))}</ul>`
}
</section>
${oauthAppsSection(o.apps, o)}`;
}

function deviceRow(device: ApiKeyRow, { csrfToken, now }: DevicesPage): Markup {
  const used = device.last_used_at === null ? "not used yet" : html`last used ${timeTag(device.last_used_at, now)}`;
  return html`<li><div><strong>${device.label}</strong><span class="muted">${describeClient(device.client)} · key ends in <code>${device.last_four}</code> · paired ${timeTag(device.created_at, now)} · ${used}</span></div>
<details><summary aria-label="Revoke ${device.label}">Revoke</summary>
<p class="muted">The device is refused at once and must be paired again.</p>
<form method="post" action="/devices/${device.id}/revoke">${csrfField(csrfToken)}<button class="danger">Revoke ${device.label}</button></form>
</details></li>`;
}
