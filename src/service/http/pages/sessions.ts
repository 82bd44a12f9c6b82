import type { Hono } from "hono";
import { html } from "hono/html";
import type { ListedSession, OwnerSession } from "../../auth/owner-sessions.ts";
import { mayDo } from "../../auth/people.ts";
import { ServiceError } from "../../service-error.ts";
import { ownerPages } from "../owner-browser.ts";
import { findNotice, type RouteEnv } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import { csrfField, type Markup, noticeLine } from "./page.ts";
import { timeTag } from "./values.ts";

const NOTICES: Readonly<Record<string, string>> = {
  ended: "That browser is signed out.",
};

/** Browsers in which a person is signed in: each sees and ends their own, an owner everybody's. */
export function addSessionPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { addPage, addForm } = ownerPages(app, parts, "approver");
  const { sessions } = parts;
  addPage("/sessions", async (c, owner) => {
    const { accountId, person } = owner;
    const own = (await sessions.list(accountId)).filter(({ person_id }) => person_id === person.id);
    const body = html`<h1>${person.name}</h1>
<p class="lead">You may ${person.role === "owner" ? "do everything here" : "decide what waits in the inbox, and read the log"}.</p>
${noticeLine(findNotice(NOTICES, c.req.query("notice")))}
${sessionList({ sessions: own, owner, now: parts.now() })}`;
    return { title: "Your browsers", body, section: "sessions" };
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
  const row = ({ id, browser, created_at, last_seen_at }: ListedSession) =>
    html`<li><div><strong>${browser}</strong><span class="muted">signed in ${timeTag(created_at, now)} · last seen ${timeTag(last_seen_at, now)}</span></div>
${
  id === owner.id
    ? html`<span class="muted">this browser</span>`
    : html`<form method="post" action="/sessions/${id}/end">${csrfField(owner.csrfToken)}<button class="quiet">Sign out<span class="hidden"> ${browser}</span></button></form>`
}</li>`;
  return html`<section class="card" aria-labelledby="browsers"><h2 id="browsers">Signed-in browsers</h2>
${sessions.length === 0 ? html`<p class="muted">None.</p>` : html`<ul class="rows">${sessions.map(row)}</ul>`}
</section>`;
}
