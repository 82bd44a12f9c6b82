import type { Hono } from "hono";
import { html } from "hono/html";
import { ServiceError } from "../../service-error.ts";
import type { ApiKeyRow } from "../../store/schema.ts";
import type { RouteEnv } from "../guard.ts";
import { askToSignIn, findOwner, readOwnForm } from "../owner-browser.ts";
import { oauthAppsSection } from "../pages/oauth-page.ts";
import { csrfField, type Markup, noticeLine, sendPage } from "../pages/page.ts";
import { describeClient } from "../pages/request-page.ts";
import { timeTag } from "../pages/time-tag.ts";
import { findNotice } from "../read-query.ts";
import type { ServiceParts } from "../service-parts.ts";
import { listOAuthApps } from "./oauth.ts";

const NOTICES: Readonly<Record<string, string>> = {
  revoked: "The device was revoked. Its key no longer works.",
  withdrawn: "The app has no access any more.",
};

/** Devices and their keys. */
export function addDevicePages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  app.get("/devices", async (c) => {
    const owner = await findOwner(c, parts);
    if (owner === undefined) return askToSignIn(c, parts);
    const body = devicesBody({
      devices: await parts.keys.list(owner.accountId),
      csrfToken: owner.csrfToken,
      now: parts.now(),
      apps: await listOAuthApps(parts, owner.accountId),
      notice: findNotice(NOTICES, c.req.query("notice")),
    });
    return sendPage(c, { title: "Devices", body, csrfToken: owner.csrfToken, section: "devices" });
  });
  app.post("/devices/:id/revoke", async (c) => {
    const { owner } = await readOwnForm(c, parts);
    const isRevoked = await parts.keys.revoke(owner.accountId, c.req.param("id"));
    if (!isRevoked) throw new ServiceError(404, "unknown_device", "There is no such device, or it is revoked already.");
    return c.redirect("/devices?notice=revoked", 303);
  });
}

interface DevicesPage {
  readonly devices: readonly ApiKeyRow[];
  readonly apps: Parameters<typeof oauthAppsSection>[0];
  readonly csrfToken: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly notice: string | undefined;
}

/** Every live key with what it belongs to, and a way to revoke it. */
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
