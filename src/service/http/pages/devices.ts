import type { Hono } from "hono";
import { html } from "hono/html";
import type { ListPlace } from "../../approvals/list-approvals.ts";
import { type Grant, isExpired, toSubject } from "../../auth/grants.ts";
import type { ApprovedApp } from "../../oauth/oauth-records.ts";
import { ServiceError } from "../../service-error.ts";
import type { ApiKeyRow, ApprovalMode } from "../../store/schema.ts";
import { ownerPages } from "../owner-browser.ts";
import { findNotice, type RouteEnv } from "../request.ts";
import { describeApp } from "../routes/oauth.ts";
import type { ServiceParts } from "../service-parts.ts";
import { accessCard } from "./first-steps.ts";
import { describeLimits, type LimitNames, limitsFields, listLimitNames, readLimits } from "./limits.ts";
import { approvalsChoice, csrfField, type Markup, noticeLine, readApprovals } from "./page.ts";
import { readPlace, toAddress } from "./places.ts";
import { describeClient } from "./requests.ts";
import { timeTag } from "./values.ts";

const NOTICES: Readonly<Record<string, string>> = {
  changed: "Saved. It counts from the next call on.",
  revoked: "The device was revoked. Its key no longer works.",
  withdrawn: "The app has no access any more.",
};

/** Devices on one page. */
const PAGE_SIZE = 50;

/** Devices and their keys. */
export function addDevicePages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { addPage, addForm } = ownerPages(app, parts);
  addPage("/devices", async (c, { accountId, csrfToken }) => {
    const after = readPlace(c.req.query("after"));
    const found = await parts.keys.list(accountId, { limit: PAGE_SIZE + 1, after });
    const devices = found.slice(0, PAGE_SIZE);
    const last = found.length > PAGE_SIZE ? devices.at(-1) : undefined;
    const apps = after === undefined ? await parts.oauth.listApps(accountId) : [];
    const subjects = [...devices.map(({ id }) => id), ...apps.map(({ clientId }) => toSubject(clientId))];
    const grants = await parts.grants.readAll(subjects);
    const body = devicesBody({
      devices,
      isFirst: after === undefined,
      next: last && { time: last.created_at, id: last.id },
      csrfToken,
      baseUrl: parts.baseUrl,
      now: parts.now(),
      apps,
      grants: new Map([...grants].map(([subject, grant]) => [subject, withMode(parts, subject, grant)])),
      names: await listLimitNames(parts),
      notice: findNotice(NOTICES, c.req.query("notice")),
    });
    return { title: "Devices", body, section: "devices" };
  });
  addPage("/devices/:id/limits", async (c, { accountId, csrfToken }) => {
    const subject = c.req.param("id");
    const label = await requireLabel(parts, accountId, subject);
    const grant = withMode(parts, subject, await parts.grants.read(subject));
    const names = await listLimitNames(parts);
    const body = limitsBody({ subject, label, grant, names, csrfToken, isFixed: parts.approvals.isFixed });
    return { title: "What it may do", body, section: "devices" };
  });
  addForm("/devices/:id/limits", async (c, { owner, form, audit }) => {
    const subject = c.req.param("id");
    const name = await requireLabel(parts, owner.accountId, subject);
    const { scopes: base, expiresAt } = await parts.grants.read(subject);
    const limits = readLimits(form, base);
    const mode = parts.approvals.isFixed ? base.approvals : readApprovals(form, base.approvals ?? "owner");
    // A key keeps its end unless another is chosen.
    const end = form.get("ends") === "keep" ? { expiresAt } : {};
    await parts.grants.write(subject, { ...limits, approvals: mode }, end);
    audit({ event: "device.limited", did: "changed the limits of the device", name, id: subject });
    return "/devices?notice=changed";
  });
  addForm("/devices/:id/revoke", async (c, { owner, audit }) => {
    const id = c.req.param("id");
    const [device] = await parts.keys.listById(owner.accountId, [id]);
    const isRevoked = await parts.keys.revoke(owner.accountId, id);
    if (!isRevoked) throw new ServiceError(404, "unknown_device", "There is no such device, or it is revoked already.");
    audit({ event: "device.revoked", did: "revoked the device", name: device?.label, id });
    return "/devices?notice=revoked";
  });
  addForm("/oauth/apps/:id/end", async (c, { owner, audit }) => {
    const id = c.req.param("id");
    const app = (await parts.oauth.listApps(owner.accountId)).find(({ clientId }) => clientId === id);
    const isEnded = await parts.oauth.endApp(owner.accountId, id);
    if (!isEnded) throw new ServiceError(404, "unknown_app", "This app does not have access.");
    audit({ event: "device.revoked", did: "took the access from the app", name: app?.name, id: toSubject(id) });
    return "/devices?notice=withdrawn";
  });
}

/** Rights of a key or app, and the approver of its calls. */
type KnownGrant = Grant & { readonly mode: ApprovalMode };

function withMode({ approvals }: ServiceParts, subject: string, grant: Grant): KnownGrant {
  return { ...grant, mode: approvals.chooseMode(subject, grant.scopes.approvals) };
}

/** The name of a live key or app; throws ServiceError 404 for any other id. */
async function requireLabel({ keys, oauth }: ServiceParts, accountId: string, subject: string): Promise<string> {
  const [device] = await keys.listById(accountId, [subject]);
  if (device !== undefined) return device.label;
  const app = (await oauth.listApps(accountId)).find(({ clientId }) => toSubject(clientId) === subject);
  if (app === undefined) throw new ServiceError(404, "unknown_device", "There is no such device or app any more.");
  return describeApp(app.name, app.redirectUri).clientName ?? "App without a name";
}

interface DevicesPage {
  readonly devices: readonly ApiKeyRow[];
  readonly isFirst: boolean;
  /** Where the next part of the list begins; undefined on the last. */
  readonly next: ListPlace | undefined;
  readonly apps: readonly ApprovedApp[];
  /** By id of the key or OAuth client. */
  readonly grants: ReadonlyMap<string, KnownGrant>;
  readonly names: LimitNames;
  readonly csrfToken: string;
  readonly baseUrl: string;
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
    ? html`<p class="muted">No device is paired.</p>`
    : html`<ul class="rows">${o.devices.map((device) => deviceRow(device, o))}</ul>`
}
</section>
${
  o.isFirst && o.next === undefined
    ? ""
    : html`<nav class="pages" aria-label="Pages of devices">${o.isFirst ? "" : html`<a href="/devices">Newest</a>`}${o.next === undefined ? "" : html`<a href="${toAddress("/devices", o.next)}">Older</a>`}</nav>`
}
${oauthAppsSection(o)}
${o.isFirst ? accessCard(o.baseUrl) : ""}`;
}

/** Rights of a key or app, with the link to change them. */
function grantLine(subject: string, label: string, { grants, names, now }: DevicesPage): Markup {
  const { scopes = {}, expiresAt = null, mode = "owner" } = grants.get(subject) ?? {};
  const limits = describeLimits(scopes, names);
  const said = [
    ...(limits.length === 0 ? ["May use everything"] : limits),
    mode === "owner" ? "You approve its calls in the inbox" : "It asks a person itself before it changes something",
  ];
  const end = isExpired(expiresAt, now)
    ? "Has expired"
    : expiresAt === null
      ? ""
      : html`Ends ${timeTag(expiresAt, now)}`;
  return html`<div class="grant"><span class="muted">${said.join(" · ")}${end === "" ? "" : html` · ${end}`}</span> <a href="/devices/${encodeURIComponent(subject)}/limits">Change<span class="hidden"> what ${label} may do</span></a> · <a href="/log?device=${encodeURIComponent(subject)}">Log<span class="hidden"> of ${label}</span></a></div>`;
}

/** The page that changes the rights of one key or app. */
function limitsBody(o: {
  readonly subject: string;
  readonly label: string;
  readonly grant: KnownGrant;
  readonly names: LimitNames;
  readonly isFixed: boolean;
  readonly csrfToken: string;
}): Markup {
  const { grant, names } = o;
  return html`<h1>What “${o.label}” may do</h1>
<p class="lead">What it may not use does not exist for it. A change counts from its next call on.</p>
<section class="card" aria-label="Limits"><form method="post" action="/devices/${encodeURIComponent(o.subject)}/limits">${csrfField(o.csrfToken)}
${limitsFields({ scopes: grant.scopes, names, expiresAt: grant.expiresAt, isAsked: false })}
${o.isFixed ? "" : approvalsChoice(grant.mode)}
<div class="actions"><button class="primary">Save</button><a class="button secondary" href="/devices">Cancel</a></div>
</form></section>`;
}

function deviceRow(device: ApiKeyRow, o: DevicesPage): Markup {
  const { csrfToken, now } = o;
  const used = device.last_used_at === null ? "not used yet" : html`last used ${timeTag(device.last_used_at, now)}`;
  return html`<li><div><strong>${device.label}</strong><span class="muted">${describeClient(device.client)} · key ends in <code>${device.last_four}</code> · paired ${timeTag(device.created_at, now)} · ${used}</span></div>
${grantLine(device.id, device.label, o)}
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
${grantLine(toSubject(clientId), label, o)}
<details><summary aria-label="Withdraw ${label}">Withdraw</summary>
<p class="muted">The app is refused at once and has to ask again.</p>
<form method="post" action="/oauth/apps/${encodeURIComponent(clientId)}/end">${csrfField(csrfToken)}<button class="danger">Withdraw ${label}</button></form>
</details></li>`;
  };
  return html`<section class="card" aria-labelledby="oauth-apps"><h2 id="oauth-apps">Apps with access through OAuth</h2>
<ul class="rows">${apps.map(row)}</ul></section>`;
}
