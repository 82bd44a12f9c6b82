import type { Hono } from "hono";
import { html } from "hono/html";
import { describeBrowser } from "../../auth/describe-browser.ts";
import type { ListedSession, OwnerSession } from "../../auth/owner-sessions.ts";
import { mayDo } from "../../auth/people.ts";
import { ServiceError } from "../../service-error.ts";
import { ownerPages } from "../owner-browser.ts";
import { explainNoSite, findPasskeySite } from "../passkey-site.ts";
import { findNotice, type RouteEnv } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import { csrfField, type Markup, noticeLine } from "./page.ts";
import { addPasskeyForm, addPasskeyForms, PASSKEY_NOTICES, passkeyList } from "./passkeys.ts";
import { timeTag } from "./values.ts";

const NOTICES: Readonly<Record<string, string>> = {
  ...PASSKEY_NOTICES,
  ended: "That browser is signed out.",
  others: "All your other browsers are signed out.",
};

/** Passkeys of a person, and browsers in which they are signed in: each sees and ends their own, an owner everybody's. */
export function addSessionPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { addPage, addForm } = ownerPages(app, parts, "approver");
  const { sessions } = parts;
  addPage("/sessions", async (c, owner) => {
    const { accountId, person } = owner;
    const isOwn = ({ person_id }: { readonly person_id: string }) => person_id === person.id;
    const own = (await sessions.list(accountId)).filter(isOwn);
    const passkeys = (await parts.passkeys.list(accountId)).filter(isOwn);
    const site = findPasskeySite(c, parts);
    const add =
      site === undefined
        ? html`<p class="muted">${explainNoSite(c, parts)}</p>`
        : addPasskeyForm(owner, describeBrowser(c.req.header("user-agent")));
    const body = html`<h1>${person.name}</h1>
<p class="lead">You may ${person.role === "owner" ? "do everything here" : "decide what waits in the inbox, and read the log"}.</p>
${noticeLine(findNotice(NOTICES, c.req.query("notice")))}
${passkeyList({ passkeys, owner, site, now: parts.now(), add })}
${sessionList({ sessions: own, owner, now: parts.now() })}`;
    return { title: "Your sign-in", body, section: "sessions", usesPasskeys: site !== undefined };
  });
  addPasskeyForms(app, parts);
  addForm("/sessions/end", async (_c, { owner, audit }) => {
    await sessions.endOthers(owner);
    audit({ event: "browser.signed_out", did: "signed out all other browsers of", id: owner.person.id });
    return "/sessions?notice=others";
  });
  addForm("/sessions/:id/end", async (c, { owner, audit }) => {
    const { accountId, person } = owner;
    const ended = await sessions.endListed(accountId, {
      id: c.req.param("id"),
      of: mayDo(person.role, "owner") ? undefined : person.id,
    });
    if (ended === undefined) throw new ServiceError(404, "unknown_session", "This browser is signed out already.");
    audit({ event: "browser.signed_out", did: "signed out a browser of", id: ended });
    return ended === person.id ? "/sessions?notice=ended" : `/people/${ended}?notice=ended`;
  });
}

/** Signed-in browsers of one person, each with a button that signs it out. */
export function sessionList(o: { sessions: readonly ListedSession[]; owner: OwnerSession; now: number }): Markup {
  const { sessions, owner, now } = o;
  const hasOthers = sessions.length > 1 && sessions.some(({ id }) => id === owner.id);
  const row = ({ id, browser, address, passkey, created_at, last_seen_at }: ListedSession) =>
    html`<li><div><strong>${browser}</strong><span class="muted">signed in ${timeTag(created_at, now)}${passkey === null ? "" : ` with the passkey ${passkey}`}${address === null ? "" : ` from ${address}`} · last seen ${timeTag(last_seen_at, now)}</span></div>
${
  id === owner.id
    ? html`<span class="muted">this browser</span>`
    : html`<form method="post" action="/sessions/${id}/end">${csrfField(owner.csrfToken)}<button class="quiet">Sign out<span class="hidden"> ${browser}</span></button></form>`
}</li>`;
  return html`<section class="card" aria-labelledby="browsers"><h2 id="browsers">Signed-in browsers</h2>
${sessions.length === 0 ? html`<p class="muted">None.</p>` : html`<ul class="rows">${sessions.map(row)}</ul>`}
${hasOthers ? html`<form method="post" action="/sessions/end">${csrfField(owner.csrfToken)}<button>Sign out all others</button></form>` : ""}
</section>`;
}
