import type { Hono } from "hono";
import { html } from "hono/html";
import { MCP_PATH } from "../../../shared/wire/mcp.ts";
import type { PasskeySite } from "../../auth/passkeys/answers.ts";
import type { Connection } from "../../connections/connection.ts";
import { isLoopbackName } from "../../fetch/address-rules.ts";
import type { ApiKeyRow } from "../../store/schema.ts";
import { ownerPages } from "../owner-browser.ts";
import type { RouteEnv } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import { csrfField, type Markup } from "./page.ts";
import { tag } from "./values.ts";

/** The form that puts the list away. */
export function addFirstStepsForm(app: Hono<RouteEnv>, parts: ServiceParts): void {
  ownerPages(app, parts).addForm("/first-steps/hide", async (_c, { owner }) => {
    await parts.firstSteps.hide(owner.accountId);
    return "/?notice=steps";
  });
}

/** One thing that a new owner does. */
interface FirstStep {
  readonly title: string;
  readonly isDone: boolean;
  /** How it is done. */
  readonly how: Markup;
}

/** Facts that show which steps are done. */
interface StepFacts {
  readonly accountId: string;
  readonly connections: readonly Connection[];
  /** Some of the newest ones. */
  readonly devices: readonly ApiKeyRow[];
  /** True when an agent has asked for something. */
  readonly wasUsed: boolean;
  /** The passkeys of this page; undefined where browsers have none. */
  readonly site: PasskeySite | undefined;
}

/** The card with the steps of a new owner; undefined once all are done, or were put away. */
export async function drawFirstSteps(
  parts: ServiceParts,
  o: StepFacts & { readonly csrfToken: string },
): Promise<Markup | undefined> {
  if (await parts.firstSteps.areHidden(o.accountId)) return undefined;
  const steps = await listFirstSteps(parts, o);
  return steps.every(({ isDone }) => isDone) ? undefined : stepsCard(steps, { ...o, ...parts });
}

async function listFirstSteps(parts: ServiceParts, o: StepFacts): Promise<readonly FirstStep[]> {
  const { oauth, sources, connector, catalog, baseUrl } = parts;
  // A client that was set up on a paired device uses its key: only its calls tell of it.
  const hasClient = o.wasUsed || o.devices.some(({ client }) => client !== "cli");
  const isMail = (one: Connection) => one.integration === "mail" && !connector.isFirstApp(one);
  return [
    { title: "Pair a device", isDone: o.devices.length > 0, how: devicePlace(baseUrl) },
    {
      title: "Connect an MCP client",
      isDone: hasClient || (await oauth.listApps(o.accountId)).length > 0,
      how: clientPlace(baseUrl),
    },
    ...(catalog.integrations.some(({ slug }) => slug === "mail")
      ? [{ title: "Connect mail", isDone: o.connections.some(isMail), how: MAIL }]
      : []),
    ...(o.site === undefined
      ? []
      : [{ title: "Sign in without a link", isDone: await parts.passkeys.isUsedAt(o.site), how: PASSKEY }]),
    { title: "Add an app", isDone: (await sources.listMarks()).length > 0, how: APPS },
  ];
}

const devicePlace = (baseUrl: string) => html`<p>On the device, once <code>svc</code> is installed there:</p>
${command(`svc pair --base-url ${baseUrl}`)}`;

const clientPlace = (
  baseUrl: string,
) => html`<p>Claude, Cursor, VS Code and others, where <code>svc</code> is installed:</p>
${command(`svc install --base-url ${baseUrl}`)}
<p>Any other client takes this address, and leads you to a page where you let it in:</p>
${command(`${baseUrl}${MCP_PATH}`)}`;

const MAIL = html`<p>Until then, agents see an empty mailbox on this machine that reaches nobody.</p>
<p><a class="button" href="/connect/mail">Connect mail</a></p>`;

const PASSKEY = html`<p>A passkey signs you in with the fingerprint, face or PIN of a device, when this browser is signed out after seven days.</p>
<p><a class="button" href="/sessions">Add a passkey</a></p>`;

const APPS = html`<p>Pick one <a href="/connections#more-apps">from the list</a>, or add it by its name, on the machine of the service:</p>
${command("svc add NAME")}
<p><code>svc add mcp</code> and <code>svc add openapi</code> add any other.</p>`;

/** One line to copy: a click takes all of it. */
function command(text: string): Markup {
  return html`<pre class="copy line"><code>${text}</code></pre>`;
}

function stepsCard(steps: readonly FirstStep[], o: { baseUrl: string; csrfToken: string }): Markup {
  return html`<section class="card" aria-labelledby="first-steps">
<div class="title"><h2 id="first-steps">First steps</h2>
<form method="post" action="/first-steps/hide">${csrfField(o.csrfToken)}<button class="quiet">Put away<span class="hidden"> the first steps</span></button></form></div>
<p class="muted">In any order; the list goes away when all are done. ${whereItIs(o.baseUrl)}</p>
<ol class="steps">${steps.map(
    ({ title, isDone, how }) =>
      html`<li><h3>${title} ${isDone ? tag("ok", "Done") : tag("plain", "To do")}</h3>${isDone ? "" : how}</li>`,
  )}</ol>
</section>`;
}

/** The addresses that a further device or client needs. */
export function accessCard(baseUrl: string): Markup {
  return html`<section class="card" aria-labelledby="more-devices">
<h2 id="more-devices">Let in another one</h2>
<p class="muted">${whereItIs(baseUrl)}</p>
<h3>A device</h3>${devicePlace(baseUrl)}
<h3>An MCP client</h3>${clientPlace(baseUrl)}
</section>`;
}

function whereItIs(baseUrl: string): Markup {
  const isLocal = isLoopbackName(new URL(baseUrl).hostname);
  return html`The address of this service is <code class="copy">${baseUrl}</code>.${isLocal ? html` Only this machine can reach it; <code>svc serve --public-url</code> gives it one for others.` : ""}`;
}
