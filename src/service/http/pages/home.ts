import type { Hono } from "hono";
import { html } from "hono/html";
import { mayDo } from "../../auth/people.ts";
import type { Connection } from "../../connections/connection.ts";
import { SIGNED_IN_PATH } from "../../connections/sign-in/provider-sign-ins.ts";
import type { Problem } from "../../health/health.ts";
import type { UnreachedTarget } from "../../notify/notes.ts";
import type { ApiKeyRow } from "../../store/schema.ts";
import { isReturnPage, ownerPages } from "../owner-browser.ts";
import { findPasskeySite } from "../passkey-site.ts";
import { findNotice, type RouteEnv } from "../request.ts";
import { listProblems } from "../routes/health.ts";
import type { ServiceParts } from "../service-parts.ts";
import { readSessionPath, SESSION_PATH } from "../session-path.ts";
import { nameApp } from "./app-names.ts";
import { type Errand, listErrands } from "./errands.ts";
import { drawFirstSteps } from "./first-steps.ts";
import { logRow, type NamedExecution, nameExecutions } from "./named-execution.ts";
import { csrfField, type Markup, noticeLine } from "./page.ts";
import { listUntried } from "./untried.ts";
import { connectionTag, timeTag } from "./values.ts";

const NOTICES: Readonly<Record<string, string>> = {
  steps: "The first steps are put away. The addresses for devices and clients stand on the devices page.",
  link: "This link leads to no page of this service where something is decided. Copy the whole link.",
};

/** Executions shown on the home page. */
const RECENT = 5;

/** The page a sign-in leads to. */
export function addHomePage(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { addPage, addForm } = ownerPages(app, parts, "approver");
  addPage("/", async (c, { accountId, csrfToken, person }) => {
    const isOwner = mayDo(person.role, "owner");
    const connections = await parts.connections.list();
    const errands = await listErrands(parts, accountId, connections);
    const { items } = await parts.activity.list(accountId, {}, { size: RECENT });
    const devices = isOwner ? await parts.keys.list(accountId, { limit: MAX_SEEN }) : [];
    const facts = { accountId, connections, devices, wasUsed: items.length > 0, site: findPasskeySite(c, parts) };
    const body = homeBody({
      problems: isOwner ? await listProblems(parts) : [],
      unsent: isOwner ? await parts.notes.listProblems() : [],
      errands: isOwner ? errands : errands.filter(({ isUrgent }) => isUrgent),
      own: !isOwner
        ? undefined
        : {
            devices: devices.slice(0, MAX_DEVICES),
            deviceCount: await parts.keys.count(accountId),
            connections: await sampleConnections(parts, connections),
            connectionCount: connections.length,
            steps: await drawFirstSteps(parts, { ...facts, csrfToken }),
          },
      recent: await nameExecutions(parts, accountId, items),
      now: parts.now(),
      notice: findNotice(NOTICES, c.req.query("notice")),
      csrfToken: readSessionPath(c.req.url) === "" ? undefined : csrfToken,
    });
    return { title: "Home", body, section: "home" };
  });
  addForm("/open-link", async (_c, { form }) => findPage(parts, form.get("link") ?? "") ?? "/?notice=link");
}

/** The page of this service that a link leads to, where it is one that people are sent to. */
function findPage({ allowedHosts, baseUrl }: ServiceParts, link: string): string | undefined {
  const url = URL.parse(link.trim(), baseUrl);
  if (url === null || !(allowedHosts.has(url.host) || url.origin === baseUrl)) return undefined;
  const path = url.pathname.replace(SESSION_PATH, "");
  if (path === SIGNED_IN_PATH || path.startsWith(`${SIGNED_IN_PATH}/`)) return `${path}${url.search}`;
  return isReturnPage(path) ? path : undefined;
}

interface NamedConnection {
  readonly connection: Connection;
  readonly app: string;
  readonly isUntried: boolean;
}

/** Connections and devices shown on the home page; their own pages have all. */
/** More than the first start makes, so that a new one is seen. */
const MAX_CONNECTIONS = 8;
const MAX_DEVICES = 5;
/** Newest devices that are looked at for the first steps. */
const MAX_SEEN = 50;

/** Those that need help first. */
async function sampleConnections(parts: ServiceParts, connections: readonly Connection[]): Promise<NamedConnection[]> {
  const [well, unwell] = [true, false].map((wanted) =>
    connections.filter(({ state }) => (state === "healthy") === wanted),
  );
  const shown = [...(unwell ?? []), ...(well ?? [])].slice(0, MAX_CONNECTIONS);
  const untried = await listUntried(parts, shown);
  return shown.map((connection) => ({
    connection,
    app: nameApp(parts, connection.integration),
    isUntried: untried.has(connection.id),
  }));
}

/** Content that only an owner sees and changes. */
interface OwnContent {
  readonly devices: readonly ApiKeyRow[];
  readonly deviceCount: number;
  readonly connections: readonly NamedConnection[];
  readonly connectionCount: number;
  /** The first steps, while some are left. */
  readonly steps: Markup | undefined;
}

function homeBody(o: {
  problems: readonly Problem[];
  /** Targets that notes do not reach. */
  unsent: readonly UnreachedTarget[];
  errands: readonly Errand[];
  own: OwnContent | undefined;
  recent: readonly NamedExecution[];
  now: number;
  notice: string | undefined;
  /** Shows the field for links; undefined where links find this browser by themselves. */
  csrfToken: string | undefined;
}): Markup {
  return html`<h1>Home</h1>
${noticeLine(o.notice)}
${o.problems.length === 0 ? "" : problemsCard(o.problems)}
${o.unsent.length === 0 ? "" : unsentCard(o.unsent)}
${o.errands.length === 0 ? "" : errandsCard(o.errands)}
${o.own?.steps ?? (o.errands.length === 0 ? noticeLine("Nothing waits for you.") : "")}
${
  o.own === undefined
    ? ""
    : html`<div class="columns">
${connectionsCard(o.own)}
${devicesCard(o.own, o.now)}
</div>`
}
<section class="card" aria-labelledby="recent">
<div class="title"><h2 id="recent">What happened last</h2><a href="/log">Execution log</a></div>
${
  o.recent.length === 0
    ? html`<p class="muted">Nothing was executed yet. What agents do with your apps is listed here.</p>`
    : html`<ul class="rows">${o.recent.map((execution) => logRow(execution, o.now))}</ul>`
}
</section>
${o.csrfToken === undefined ? "" : linkForm(o.csrfToken)}`;
}

/** For browsers without scripts, and for links that were opened in another one. */
function linkForm(csrfToken: string): Markup {
  return html`<section class="card" aria-labelledby="open-link">
<h2 id="open-link">Open a link</h2>
<form class="inline" method="post" action="/open-link">${csrfField(csrfToken)}
<div><label for="link">Link from a device, an app or an agent</label><input id="link" name="link" type="text" spellcheck="false" autocapitalize="off" autocomplete="off" required></div>
<button>Open</button></form>
</section>`;
}

function problemsCard(problems: readonly Problem[]): Markup {
  return html`<section class="card" role="alert" aria-labelledby="problems">
<h2 id="problems">The service does not work as it should</h2>
<ul class="rows">${problems.map(({ message }) => html`<li><div><strong>${message}</strong></div></li>`)}</ul>
<p class="muted">What to do stands in the log of the service, on its machine.</p>
</section>`;
}

function unsentCard(unsent: readonly UnreachedTarget[]): Markup {
  return html`<section class="card" role="alert" aria-labelledby="unsent">
<h2 id="unsent">Problems</h2>
<ul class="rows">${unsent.map(
    ({ target, reason }) =>
      html`<li><div><strong>Notes do not arrive: ${target}</strong><span class="muted">${reason}</span></div></li>`,
  )}</ul>
<p class="muted">What waits for you is listed here all the same. Correct the target where the service is started, then run <code>svc notify test</code>.</p>
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

function connectionsCard({ connections, connectionCount }: OwnContent): Markup {
  return html`<section class="card" aria-labelledby="connections">
<div class="title"><h2 id="connections">Connections</h2><a href="/connections">Manage</a></div>
${
  connections.length === 0
    ? html`<p class="muted">No app is connected. Agents can do nothing yet.</p>`
    : html`<ul class="rows">${connections.map(
        ({ connection, app, isUntried }) =>
          html`<li><div><strong><a href="/connections/${connection.id}">${connection.label}</a></strong><span class="muted">${app}</span></div>${connectionTag(connection.state, isUntried)}</li>`,
      )}</ul>`
}
${connectionCount > connections.length ? html`<p class="muted"><a href="/connections">All ${connectionCount} connections</a></p>` : ""}
</section>`;
}

function devicesCard({ devices, deviceCount }: OwnContent, now: number): Markup {
  const more = deviceCount - devices.length;
  return html`<section class="card" aria-labelledby="devices">
<div class="title"><h2 id="devices">Devices</h2><a href="/devices">Manage</a></div>
${
  devices.length === 0
    ? html`<p class="muted">No device is paired. Run <code>svc pair</code> on the device and open the link it prints.</p>`
    : html`<ul class="rows">${devices.map(
        (device) =>
          html`<li><div><strong>${device.label}</strong><span class="muted">${device.last_used_at === null ? "not used yet" : html`last used ${timeTag(device.last_used_at, now)}`}</span></div></li>`,
      )}</ul>`
}
${more > 0 ? html`<p class="muted"><a href="/devices">All ${deviceCount} devices</a></p>` : ""}
</section>`;
}
