import type { Hono } from "hono";
import { html } from "hono/html";
import { parseJson } from "../../../shared/base/json.ts";
import { describeBrowser } from "../../auth/describe-browser.ts";
import type { OwnerSession } from "../../auth/owner-sessions.ts";
import type { PasskeySite } from "../../auth/passkeys/answers.ts";
import { MAX_PASSKEY_NAME } from "../../auth/passkeys/passkeys.ts";
import { mayDo } from "../../auth/people.ts";
import { ServiceError } from "../../service-error.ts";
import type { PasskeyRow } from "../../store/schema.ts";
import { ownerPages } from "../owner-browser.ts";
import { findPasskeySite } from "../passkey-site.ts";
import type { RouteEnv } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import { FIELDS } from "../whole-answer.ts";
import { csrfField, type Markup } from "./page.ts";
import { timeTag } from "./values.ts";

/** Notices of these forms, on the page of the person. */
export const PASSKEY_NOTICES: Readonly<Record<string, string>> = {
  added: "The passkey is there. Next time, press “Sign in with a passkey”.",
  removed: "The passkey is removed, and the other browsers that it signed in are signed out.",
  "none-left":
    "That was the last passkey. The next sign-in needs a link: from “svc login-link” on the machine of the service, or from an owner.",
};

/** Forms that add and remove passkeys: each person their own, an owner removes everybody's. */
export function addPasskeyForms(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { addForm } = ownerPages(app, parts, "approver");
  const { passkeys } = parts;
  addForm("/passkeys/start", async (c, { owner }) =>
    c.json(await passkeys.beginAdding(requireSite(findPasskeySite(c, parts)), toAdding(owner)), 200, FIELDS),
  );
  addForm("/passkeys", async (c, { owner, form, audit }) => {
    const name = form.get("name")?.trim() || describeBrowser(c.req.header("user-agent"));
    const answer = parseJson(form.get("answer") ?? "");
    await passkeys.add(requireSite(findPasskeySite(c, parts)), toAdding(owner), { name, answer });
    audit({ event: "passkey.added", did: "added a passkey", name });
    return "/sessions?notice=added";
  });
  addForm("/passkeys/:id/remove", async (c, { owner, audit }) => {
    const { accountId, person } = owner;
    const of = mayDo(person.role, "owner") ? undefined : person.id;
    const removed = await passkeys.remove(accountId, { id: c.req.param("id"), of, keep: owner.id });
    if (removed === undefined) throw new ServiceError(404, "unknown_passkey", "This passkey is removed already.");
    const { name, person_id: whose } = removed;
    audit({ event: "passkey.removed", did: "removed the passkey", name, id: whose });
    const isLeft = (await passkeys.list(accountId)).some(({ person_id }) => person_id === whose);
    const page = whose === person.id ? "/sessions" : `/people/${whose}`;
    return `${page}?notice=${isLeft ? "removed" : "none-left"}`;
  });
}

const toAdding = ({ person, id }: OwnerSession) => ({ person, session: id });

/** @throws ServiceError 409 where browsers have no passkeys. */
export function requireSite(site: PasskeySite | undefined): PasskeySite {
  if (site !== undefined) return site;
  throw new ServiceError(409, "no_passkeys_here", "Browsers offer no passkeys at this address.");
}

/** Passkeys of one person, each with a button that removes it. `add` is the form to add one, or why there is none. */
export function passkeyList(o: {
  passkeys: readonly PasskeyRow[];
  owner: OwnerSession;
  /** The site of this page: a passkey of another is marked. Left out, each names its own. */
  site?: PasskeySite | undefined;
  now: number;
  add?: Markup;
}): Markup {
  const { passkeys, now } = o;
  const row = (passkey: PasskeyRow) =>
    html`<li><div><strong>${passkey.name}</strong><span class="muted">added ${timeTag(passkey.created_at, now)} · ${passkey.last_used_at === null ? "never used" : html`last used ${timeTag(passkey.last_used_at, now)}`}${passkey.rp_id === o.site?.rpId ? "" : ` · works at ${passkey.rp_id} only`}</span></div>
${removal(passkey, o)}</li>`;
  return html`<section class="card" aria-labelledby="passkeys"><h2 id="passkeys">Passkeys</h2>
${passkeys.length === 0 ? html`<p class="muted">None. A passkey signs in without a link: with the fingerprint, face or PIN of a device.</p>` : html`<ul class="rows">${passkeys.map(row)}</ul>`}
${o.add ?? ""}
</section>`;
}

function removal(
  { id, name }: PasskeyRow,
  { passkeys, owner }: { passkeys: readonly PasskeyRow[]; owner: OwnerSession },
) {
  const last =
    passkeys.length === 1
      ? "It is the only one: after that, a sign-in needs a link from “svc login-link” on the machine of the service, or from an owner."
      : "It signs nobody in any more.";
  return html`<details><summary aria-label="Remove ${name}">Remove</summary>
<p class="muted">${last} Other browsers that it signed in are signed out.</p>
<form method="post" action="/passkeys/${id}/remove">${csrfField(owner.csrfToken)}<button class="danger">Remove ${name}</button></form></details>`;
}

/** The form that adds a passkey. */
export function addPasskeyForm(owner: OwnerSession, suggestedName: string): Markup {
  return html`<form method="post" action="/passkeys" data-passkey="add" hidden>${csrfField(owner.csrfToken)}
<input type="hidden" name="answer">
<div class="field"><label for="passkey-name">Name of the new passkey</label><input id="passkey-name" name="name" value="${suggestedName}" maxlength="${MAX_PASSKEY_NAME}" autocomplete="off"></div>
<div class="actions"><button class="primary">Add a passkey</button></div>
<p class="problem" role="status"></p></form>
<noscript><p class="muted">To add one, let this page run scripts.</p></noscript>`;
}
