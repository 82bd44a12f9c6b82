import type { Hono } from "hono";
import { html } from "hono/html";
import { searchKnownApps } from "../../../apps/known/known-app-command.ts";
import { KNOWN_APPS_CHECKED, type KnownApp, knownApps } from "../../../apps/known/known-apps.ts";
import { checkSlug } from "../../../apps/port/source.ts";
import { isSvcError } from "../../../shared/errors.ts";
import { ServiceError } from "../../service-error.ts";
import { ownerPages } from "../owner-browser.ts";
import type { RouteEnv } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import { csrfField, type Markup } from "./page.ts";

/** Notices of the form that adds an app. */
export const KNOWN_APP_NOTICES: Readonly<Record<string, string>> = {
  unreachable: "The app could not be reached, so nothing was added. Try again later.",
  open: "The app asked for no sign-in, so nothing was added. The command shows what it offers before you agree.",
};

/**
 * True for an app that may be added on a page: a server at the public address of the table, which offers nothing until its
 * owner has signed in and has agreed to its actions. A page starts no program and takes no address.
 */
function isAddableHere({ kind, options }: KnownApp): boolean {
  return kind === "mcp" && [options.header, options.private, options.level].every((one) => one === undefined);
}

/** The form that adds a known app, and leads to the form that connects it. */
export function addKnownAppPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  ownerPages(app, parts).addForm("/apps/:slug/add", async (c, { audit }) => {
    const known = knownApps.find(({ slug }) => slug === c.req.param("slug"));
    if (known === undefined || !isAddableHere(known)) {
      throw new ServiceError(404, "integration_not_found", "There is no app of this name that a page can add.");
    }
    const taken = parts.catalog.integrations.map(({ slug }) => slug);
    if (!taken.includes(known.slug)) {
      const notice = await add(parts, known, taken);
      if (notice !== undefined) return `/connections?notice=${notice}`;
      audit({ event: "app.added", did: "added the app", name: known.name, id: known.slug });
    }
    return `/connect/${known.slug}`;
  });
}

/** Adds the app, or says with a notice why not. */
async function add(
  { sources, refreshApps }: ServiceParts,
  known: KnownApp,
  taken: readonly string[],
): Promise<keyof typeof KNOWN_APP_NOTICES | undefined> {
  const { prepareKnownApp } = await import("../../../apps/known/prepare-known-app.ts");
  try {
    checkSlug(known.slug, taken);
    const source = await prepareKnownApp(known);
    if (source === "open" || source === "unreachable") return source;
    await sources.put(source);
  } catch (error) {
    if (isSvcError(error)) throw new ServiceError(409, "conflict", error.message);
    throw error;
  }
  await refreshApps();
  return undefined;
}

/** The known apps, searched without a script; `added` are slugs that are there already. */
export function knownAppsCard(o: { find: string; added: ReadonlySet<string>; csrfToken: string }): Markup {
  const apps = searchKnownApps(o.find).filter(({ slug }) => !o.added.has(slug));
  const list = html`<ul class="rows known">${apps.map((app) => knownRow(app, o.csrfToken))}</ul>
<p class="muted">A command is typed on the machine of the service. Addresses are as published, read on ${KNOWN_APPS_CHECKED}, and were not tried.</p>`;
  return html`<section class="card" aria-labelledby="more-apps">
<h2 id="more-apps">Add an app</h2>
${
  o.find === ""
    ? html`<details><summary>All ${apps.length} apps</summary>${list}</details>`
    : html`${apps.length === 0 ? html`<p class="known" role="status">No app of the list fits. On the machine of the service, <code>svc add mcp</code> and <code>svc add openapi</code> add any other one.</p>` : list}`
}
</section>`;
}

function knownRow(app: KnownApp, csrfToken: string): Markup {
  const { slug, name, about, needs } = app;
  const how = isAddableHere(app)
    ? html`<form method="post" action="/apps/${slug}/add">${csrfField(csrfToken)}<button>Add<span class="hidden"> ${name}</span></button></form>`
    : html`<code class="copy">svc add ${slug}</code>`;
  return html`<li><div><strong>${name}</strong><span class="muted">${about}. You need ${needs}.</span></div>${how}</li>`;
}
