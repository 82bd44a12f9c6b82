import type { Hono } from "hono";
import { html } from "hono/html";
import type { ListedSession, OwnerSession } from "../../auth/owner-sessions.ts";
import { MAX_NAME, type PersonRow, readRole } from "../../auth/people.ts";
import { isLoopbackName } from "../../fetch/address-rules.ts";
import { ServiceError } from "../../service-error.ts";
import type { PasskeyRow, Role } from "../../store/schema.ts";
import { ownerPages } from "../owner-browser.ts";
import { findNotice, type RouteEnv } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import { csrfField, type Markup, noticeLine, type Page } from "./page.ts";
import { PASSKEY_NOTICES, passkeyList } from "./passkeys.ts";
import { sessionList } from "./sessions.ts";
import { exactTimeTag, tag, timeTag } from "./values.ts";

const NOTICES: Readonly<Record<string, string>> = {
  ...PASSKEY_NOTICES,
  changed: "Saved. It counts at once.",
  ended: "That browser is signed out.",
  removed: "Removed. Their browsers are signed out, and their links work no longer.",
};

/** People of the service: who may sign in, as what, and in which browsers. */
export function addPeoplePages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { addPage, addForm } = ownerPages(app, parts);
  const { people, sessions } = parts;
  const show = async (owner: OwnerSession, o: Partial<PeoplePage>): Promise<Page> => {
    const everybody = await people.list(owner.accountId);
    const signedIn = await sessions.list(owner.accountId);
    const body = peopleBody({ everybody, signedIn, owner, now: parts.now(), ...o });
    return { title: "People", body, section: "people" };
  };
  addPage("/people", (c, owner) => show(owner, { notice: findNotice(NOTICES, c.req.query("notice")) }));
  addForm("/people", (_c, { owner, form, audit }) => {
    const invite = async () => {
      const role = readRole(form.get("role"));
      const person = await people.invite(owner.accountId, { name: form.get("name") ?? "", role });
      audit({ event: "person.invited", did: `invited, as ${role},`, name: person.name, id: person.id });
      return linkPage(person, await makeLink(parts, person.id));
    };
    return orExplain(invite, (problem) => show(owner, { problem }));
  });
  addPersonPages(app, parts);
}

/** The page of one person, with everything that an owner can do about them. */
function addPersonPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { addPage, addForm } = ownerPages(app, parts);
  const { people, sessions } = parts;
  const show = async (owner: OwnerSession, id: string, o: Partial<PersonPage>): Promise<Page> => {
    const person = await people.find(owner.accountId, id);
    const signedIn = (await sessions.list(owner.accountId)).filter(({ person_id }) => person_id === id);
    const passkeys = (await parts.passkeys.list(owner.accountId)).filter(({ person_id }) => person_id === id);
    const body = personBody({ person, signedIn, passkeys, owner, now: parts.now(), ...o });
    return { title: person.name, body, section: "people" };
  };
  addPage("/people/:id", (c, owner) =>
    show(owner, c.req.param("id"), { notice: findNotice(NOTICES, c.req.query("notice")) }),
  );
  addForm("/people/:id", (c, { owner, form, audit }) => {
    const id = c.req.param("id");
    const update = async () => {
      const role = readRole(form.get("role"));
      await people.update(owner.accountId, id, { name: form.get("name") ?? "", role });
      const { name } = await people.find(owner.accountId, id);
      audit({ event: "person.changed", did: `set name and role (${role}) of`, name, id });
      return `/people/${id}?notice=changed`;
    };
    return orExplain(update, (problem) => show(owner, id, { problem }));
  });
  addForm("/people/:id/link", async (c, { owner, audit }) => {
    const person = await people.find(owner.accountId, c.req.param("id"));
    audit({ event: "person.link_made", did: "made a sign-in link for", name: person.name, id: person.id });
    return linkPage(person, await makeLink(parts, person.id));
  });
  addForm("/people/:id/remove", (c, { owner, audit }) => {
    const id = c.req.param("id");
    const remove = async () => {
      const { name } = await people.find(owner.accountId, id);
      await people.remove(owner.accountId, id);
      audit({ event: "person.removed", did: "removed", name, id });
      return "/people?notice=removed";
    };
    return orExplain(remove, (problem) => show(owner, id, { problem }));
  });
}

/** The answer of `work`, or the page that says why it cannot be done. */
async function orExplain(work: () => Promise<Page | string>, show: (problem: string) => Promise<Page>) {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ServiceError) || (error.status !== 400 && error.status !== 409)) throw error;
    return { ...(await show(error.message)), status: error.status } as const;
  }
}

interface MadeLink {
  readonly link: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

async function makeLink({ sessions, baseUrl }: ServiceParts, personId: string): Promise<MadeLink> {
  const { secret, expiresAt } = await sessions.createInvitation(personId);
  return { link: `${baseUrl}/sign-in?token=${secret}`, expiresAt };
}

function linkPage(person: PersonRow, { link, expiresAt }: MadeLink): Page {
  const body = html`<section class="card" aria-labelledby="link">
<div role="status"><h1 id="link">Send ${person.name} this link</h1>
<p>Whoever opens it first is signed in as ${person.name}. It works once, within 24 hours: until ${exactTimeTag(expiresAt)}. It is shown only now.</p></div>
<p class="notice"><code class="copy">${link}</code></p>
${isLoopbackName(new URL(link).hostname) ? html`<p class="muted">This address works on the machine of the service only. For others, start it with <code>--public-url</code>.</p>` : ""}
<p><a href="/people/${person.id}">Go on</a></p>
</section>`;
  return { title: "Sign-in link", body };
}

const ROLES: Readonly<Record<Role, readonly [name: string, help: string]>> = {
  approver: ["Approver", "Decides what waits in the inbox, and reads the log."],
  owner: ["Owner", "May also change apps, devices, rules and people."],
};

interface PeoplePage {
  readonly everybody: readonly PersonRow[];
  readonly signedIn: readonly ListedSession[];
  readonly owner: OwnerSession;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly notice?: string | undefined;
  /** Why a form was refused. */
  readonly problem?: string | undefined;
}

function peopleBody(o: PeoplePage): Markup {
  return html`<h1>People</h1>
<p class="lead">Who may sign in here. The log names them.</p>
${noticeLine(o.notice)}
<section class="card" aria-label="People">
<ul class="rows">${o.everybody.map((person) => personRow(person, o))}</ul>
</section>
<section class="card" aria-labelledby="invite">
<h2 id="invite">Invite somebody</h2>
${problemLine(o.problem)}
<form method="post" action="/people">${csrfField(o.owner.csrfToken)}
${nameField("")}
${roleChoice("approver")}
<div class="actions"><button class="primary">Make a sign-in link</button></div></form>
</section>`;
}

function personRow(person: PersonRow, { signedIn, owner, now }: PeoplePage): Markup {
  const { id, name, role } = person;
  const own = signedIn.filter(({ person_id }) => person_id === id);
  return html`<li><div><strong><a href="/people/${id}">${name}</a>${id === owner.person.id ? " (you)" : ""}</strong><span class="muted">${describePresence(person, own, now)}</span></div>
${tag(role === "owner" ? "ok" : "plain", ROLES[role][0])}</li>`;
}

function describePresence({ invited_at, joined_at }: PersonRow, own: readonly ListedSession[], now: number): Markup {
  const [last] = own;
  if (last !== undefined) {
    return html`signed in with ${own.length === 1 ? "one browser" : `${own.length} browsers`} · last seen ${timeTag(last.last_seen_at, now)}`;
  }
  return joined_at === null ? html`invited ${timeTag(invited_at, now)}, not signed in yet` : html`not signed in`;
}

interface PersonPage extends Omit<PeoplePage, "everybody"> {
  readonly passkeys: readonly PasskeyRow[];
  readonly person: PersonRow;
}

function personBody(o: PersonPage): Markup {
  const { person, signedIn, owner, now } = o;
  const { id, name, role } = person;
  const csrf = csrfField(owner.csrfToken);
  return html`<h1>${name}</h1>
<p class="lead">${ROLES[role][0]} · ${describePresence(person, signedIn, now)}</p>
${noticeLine(o.notice)}
<section class="card" aria-labelledby="change">
<h2 id="change">Name and role</h2>
${problemLine(o.problem)}
<form method="post" action="/people/${id}">${csrf}
${nameField(name)}
${roleChoice(role)}
<div class="actions"><button>Save</button></div></form>
</section>
${o.passkeys.length === 0 ? "" : passkeyList({ passkeys: o.passkeys, owner, now })}
${sessionList({ sessions: signedIn, owner, now })}
<section class="card" aria-labelledby="access">
<h2 id="access">Access</h2>
<form method="post" action="/people/${id}/link">${csrf}
<p class="muted">For another browser, or when a sign-in has ended after seven days. Links made earlier work no longer.</p>
<button>Make a sign-in link</button></form>
<details><summary>Remove ${name}</summary>
<p class="muted">Their browsers are signed out and their passkeys work no longer, at once. What they decided stays in the log, with their name.</p>
<form method="post" action="/people/${id}/remove">${csrf}<button class="danger">Remove ${name}</button></form>
</details>
</section>
<p><a href="/people">All people</a></p>`;
}

function problemLine(problem: string | undefined): Markup {
  return problem === undefined ? html`` : html`<p class="notice bad" role="alert">${problem}</p>`;
}

function nameField(name: string): Markup {
  return html`<div class="field"><label for="name">Name <span class="optional">(stands in the log)</span></label><input id="name" name="name" value="${name}" maxlength="${MAX_NAME}" required autocomplete="off"></div>`;
}

function roleChoice(chosen: Role): Markup {
  const option = ([role, [name, help]]: [string, readonly [string, string]]) =>
    html`<div class="choice"><input type="radio" id="role-${role}" name="role" value="${role}"${role === chosen ? html` checked` : ""}><label for="role-${role}">${name} <span class="help">${help}</span></label></div>`;
  return html`<fieldset><legend>Role</legend>${Object.entries(ROLES).map(option)}</fieldset>`;
}
