import type { Hono } from "hono";
import { html } from "hono/html";
import type { ApprovedApp } from "../../oauth/oauth-records.ts";
import { ServiceError } from "../../service-error.ts";
import type { ApiKeyRow, ApprovalMode } from "../../store/schema.ts";
import { ownerPages } from "../owner-browser.ts";
import { findNotice, type RouteEnv } from "../request.ts";
import { describeApp } from "../routes/oauth.ts";
import type { ServiceParts } from "../service-parts.ts";
import { csrfField, type Markup, noticeLine, readApprovals } from "./page.ts";
import { describeClient } from "./requests.ts";
import { timeTag } from "./values.ts";

const NOTICES: Readonly<Record<string, string>> = {
  mode: "Saved. It counts from the next call on.",
  revoked: "The device was revoked. Its key no longer works.",
  withdrawn: "The app has no access any more.",
};

/** Devices and their keys. */
export function addDevicePages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { addPage, addForm } = ownerPages(app, parts);
  addPage("/devices", async (c, { accountId, csrfToken }) => {
    const devices = await parts.keys.list(accountId);
    const apps = await parts.oauth.listApps(accountId);
    const subjects = [...devices.map(({ id }) => id), ...apps.map(({ clientId }) => `oauth_${clientId}`)];
    const modes = new Map<string, ApprovalMode>();
    for (const subject of subjects) modes.set(subject, await parts.approvals.readMode(subject));
    const body = devicesBody({
      devices,
      csrfToken,
      now: parts.now(),
      apps,
      modes,
      isFixed: parts.approvals.isFixed,
      notice: findNotice(NOTICES, c.req.query("notice")),
    });
    return { title: "Devices", body, section: "devices" };
  });
  addForm("/devices/:id/approvals", async (c, { form }) => {
    await parts.approvals.setMode(c.req.param("id"), readApprovals(form, "owner"));
    return "/devices?notice=mode";
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
  /** Who approves the calls, by id of the key or `oauth_` and the client id. */
  readonly modes: ReadonlyMap<string, ApprovalMode>;
  /** True where the owner approves all calls. */
  readonly isFixed: boolean;
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

/** Who approves the calls of a key or app, with the button that changes it. */
function approverLine(subject: string, label: string, { modes, isFixed, csrfToken }: DevicesPage): Markup {
  const isOwner = modes.get(subject) === "owner";
  const text = isOwner ? "You approve its calls in the inbox." : "It asks a person itself before it changes something.";
  if (isFixed) return html`<p class="muted">${text}</p>`;
  const other = isOwner ? "device" : "owner";
  return html`<form method="post" action="/devices/${encodeURIComponent(subject)}/approvals">${csrfField(csrfToken)}<input type="hidden" name="approvals" value="${other}"><p class="muted">${text}</p><button class="quiet">${isOwner ? "Let it ask a person itself" : "Approve its calls in the inbox"}<span class="hidden">, ${label}</span></button></form>`;
}

function deviceRow(device: ApiKeyRow, o: DevicesPage): Markup {
  const { csrfToken, now } = o;
  const used = device.last_used_at === null ? "not used yet" : html`last used ${timeTag(device.last_used_at, now)}`;
  return html`<li><div><strong>${device.label}</strong><span class="muted">${describeClient(device.client)} · key ends in <code>${device.last_four}</code> · paired ${timeTag(device.created_at, now)} · ${used}</span></div>
<details><summary aria-label="Approvals of ${device.label}">Approvals</summary>${approverLine(device.id, device.label, o)}</details>
<details><summary aria-label="Revoke ${device.label}">Revoke</summary>
<p class="muted">The device is refused at once and must be paired again.</p>
<form method="post" action="/devices/${device.id}/revoke">${csrfField(csrfToken)}<button class="danger">Revoke ${device.label}</button></form>
</details></li>`;
}

/** Apps with access through OAuth, each with a way to withdraw it; nothing when there is none. */
function oauthAppsSection(o: DevicesPage): Markup {
  const { apps, csrfToken, now } = o;
  if (apps.length === 0) return html``;
  const row = ({ clientId, name, redirectUri, approvedAt }: ApprovedApp) => {
    const { clientName, destination } = describeApp(name, redirectUri);
    const label = clientName ?? "No name given";
    return html`<li><div><strong>${label}</strong><span class="muted">${destination} · approved ${timeTag(approvedAt, now)}</span></div>
<details><summary aria-label="Approvals of ${label}">Approvals</summary>${approverLine(`oauth_${clientId}`, label, o)}</details>
<details><summary aria-label="Withdraw ${label}">Withdraw</summary>
<p class="muted">The app is refused at once and has to ask again.</p>
<form method="post" action="/oauth/apps/${encodeURIComponent(clientId)}/end">${csrfField(csrfToken)}<button class="danger">Withdraw ${label}</button></form>
</details></li>`;
  };
  return html`<section class="card" aria-labelledby="oauth-apps"><h2 id="oauth-apps">Apps with access through OAuth</h2>
<ul class="rows">${apps.map(row)}</ul></section>`;
}
