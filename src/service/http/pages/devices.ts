import type { Hono } from "hono";
import { html } from "hono/html";
import type { ApprovedApp } from "../../oauth/oauth-records.ts";
import { ServiceError } from "../../service-error.ts";
import type { ApiKeyRow } from "../../store/schema.ts";
import { ownerPages } from "../owner-browser.ts";
import { findNotice, type RouteEnv } from "../request.ts";
import { describeApp } from "../routes/oauth.ts";
import type { ServiceParts } from "../service-parts.ts";
import { csrfField, type Markup, noticeLine } from "./page.ts";
import { describeClient } from "./requests.ts";
import { timeTag } from "./values.ts";

const NOTICES: Readonly<Record<string, string>> = {
  revoked: "The device was revoked. Its key no longer works.",
  withdrawn: "The app has no access any more.",
};

/** Devices and their keys. */
export function addDevicePages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { addPage, addForm } = ownerPages(app, parts);
  addPage("/devices", async (c, { accountId, csrfToken }) => {
    const body = devicesBody({
      devices: await parts.keys.list(accountId),
      csrfToken,
      now: parts.now(),
      apps: await parts.oauth.listApps(accountId),
      notice: findNotice(NOTICES, c.req.query("notice")),
    });
    return { title: "Devices", body, section: "devices" };
  });
  addForm("/devices/:id/revoke", async (c, { owner }) => {
    const isRevoked = await parts.keys.revoke(owner.accountId, c.req.param("id"));
    if (!isRevoked) throw new ServiceError(404, "unknown_device", "There is no such device, or it is revoked already.");
    return "/devices?notice=revoked";
  });
  addForm("/oauth/apps/:id/end", async (c, { owner }) => {
    const isEnded = await parts.oauth.endApp(owner.accountId, c.req.param("id"));
    if (!isEnded) throw new ServiceError(404, "unknown_app", "This app does not have access.");
    return "/devices?notice=withdrawn";
  });
}

interface DevicesPage {
  readonly devices: readonly ApiKeyRow[];
  readonly apps: readonly ApprovedApp[];
  readonly csrfToken: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly notice: string | undefined;
}

function devicesBody(o: DevicesPage): Markup {
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
${oauthAppsSection(o)}`;
}

function deviceRow(device: ApiKeyRow, { csrfToken, now }: DevicesPage): Markup {
  const used = device.last_used_at === null ? "not used yet" : html`last used ${timeTag(device.last_used_at, now)}`;
  return html`<li><div><strong>${device.label}</strong><span class="muted">${describeClient(device.client)} · key ends in <code>${device.last_four}</code> · paired ${timeTag(device.created_at, now)} · ${used}</span></div>
<details><summary aria-label="Revoke ${device.label}">Revoke</summary>
<p class="muted">The device is refused at once and must be paired again.</p>
<form method="post" action="/devices/${device.id}/revoke">${csrfField(csrfToken)}<button class="danger">Revoke ${device.label}</button></form>
</details></li>`;
}

/** Apps with access through OAuth, each with a way to withdraw it; nothing when there is none. */
function oauthAppsSection({ apps, csrfToken, now }: DevicesPage): Markup {
  if (apps.length === 0) return html``;
  const row = ({ clientId, name, redirectUri, approvedAt }: ApprovedApp) => {
    const { clientName, destination } = describeApp(name, redirectUri);
    const label = clientName ?? "No name given";
    return html`<li><div><strong>${label}</strong><span class="muted">${destination} · approved ${timeTag(approvedAt, now)}</span></div>
<details><summary aria-label="Withdraw ${label}">Withdraw</summary>
<p class="muted">The app is refused at once and has to ask again.</p>
<form method="post" action="/oauth/apps/${encodeURIComponent(clientId)}/end">${csrfField(csrfToken)}<button class="danger">Withdraw ${label}</button></form>
</details></li>`;
  };
  return html`<section class="card" aria-labelledby="oauth-apps"><h2 id="oauth-apps">Apps with access through OAuth</h2>
<ul class="rows">${apps.map(row)}</ul></section>`;
}
