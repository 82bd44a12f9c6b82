import { html } from "hono/html";
import type { Integration, SettingField } from "../../../apps/port/integration.ts";
import { shortenText } from "../../../shared/base/text.ts";
import type { Connection } from "../../connections/connection.ts";
import { listMissingScopes, type MissingScope } from "../../connections/connection-form.ts";
import type { SignInFacts } from "../../connections/sign-in/access-tokens.ts";
import { csrfField, type Markup, noticeLine } from "./page.ts";
import { connectionTag } from "./values.ts";

interface ConnectionPage {
  readonly connection: Connection;
  /** Undefined when the app is no longer installed. */
  readonly integration: Integration | undefined;
  readonly csrfToken: string;
  readonly notice: string | undefined;
  /** At its provider. */
  readonly signIn: SignInFacts | undefined;
  /** True when nobody knows whether it works. */
  readonly isUntried: boolean;
}

/** One connection: its settings, its access, and everything the owner can change. */
export function connectionBody(o: ConnectionPage): Markup {
  const { connection, integration, csrfToken, signIn } = o;
  const missing = integration === undefined ? [] : listMissingScopes(integration, connection);
  const path = `/connections/${connection.id}`;
  return html`<h1>${connection.label}</h1>
<p class="lead">${integration?.name ?? connection.integration} · ${connectionTag(integration?.stopped === undefined ? connection.state : "error", o.isUntried)}${connection.isDefault ? " · default" : ""}</p>
${noticeLine(o.notice)}
${integration?.stopped === undefined ? stateNotice(connection, path, signIn?.ended) : stoppedNotice(integration.stopped)}
${o.isUntried ? html`<p class="notice">The log has no successful call of it: whether its settings work shows with the first one.</p>` : ""}
<section class="card" aria-labelledby="facts">
<h2 id="facts">What it reaches</h2>
<dl>
<dt>Id</dt><dd><code>${connection.id}</code></dd>
${signIn === undefined ? "" : signInFacts(signIn, integration)}
${(integration?.settingsForm ?? []).map((field) => settingFact(field, connection))}
<dt>Access</dt><dd>${integration?.stopped !== undefined ? "None" : missing.length === 0 ? "Everything the app offers" : "Limited"}</dd>
</dl>
${missingList(missing)}
<div class="actions">
${integration === undefined || integration.stopped !== undefined ? "" : html`<a class="button" href="${path}/reconnect">Change settings</a>`}
<a href="/log?connection=${connection.id}">See what was done with it</a>
</div>
</section>
<section class="card" aria-labelledby="manage">
<h2 id="manage">Manage</h2>
<form class="inline" method="post" action="${path}/rename">${csrfField(csrfToken)}
<div><label for="label">Name</label><input id="label" name="label" value="${connection.label}" maxlength="60" required autocomplete="off"></div>
<button>Rename</button></form>
<div class="actions">
${
  connection.isDefault
    ? ""
    : html`<form method="post" action="${path}/default">${csrfField(csrfToken)}<button>Make default</button></form>`
}
<details><summary>Disconnect</summary>
<p class="muted">Agents lose access at once. What the app holds stays where it is; the service forgets the settings.</p>
<form method="post" action="${path}/disconnect">${csrfField(csrfToken)}<button class="danger">Disconnect ${connection.label}</button></form>
</details>
</div>
</section>`;
}

/** Scopes that were not granted, with the actions that need them; nothing when all were. */
export function missingList(missing: readonly MissingScope[]): Markup {
  if (missing.length === 0) return html``;
  return html`<p>Not granted:</p>
<ul>${missing.map(
    ({ scope, neededBy }) =>
      html`<li><code>${scope}</code>${neededBy.length === 0 ? "" : html`, needed by: ${neededBy.join(", ")}`}</li>`,
  )}</ul>`;
}

/** Says why an app cannot be used, and the next step. */
export function stoppedNotice(stopped: string): Markup {
  return html`<div class="notice bad"><p><strong>This app stopped working.</strong> ${stopped}</p></div>`;
}

function stateNotice({ state, label }: Connection, path: string, ended: string | undefined): Markup {
  if (state === "healthy") return html``;
  const text =
    ended !== undefined
      ? html`<p><strong>${ended}</strong></p><p>Until you sign in again, calls to it are refused.</p>`
      : state === "reauth_required"
        ? html`<p>The app refused the access of “${label}”. Until it is reconnected, calls to it are refused.</p>`
        : html`<p>“${label}” does not work at the moment: it is down, or its settings are wrong. Until it works, calls to it are refused.</p>`;
  const button = ended === undefined ? "Reconnect" : "Sign in again";
  return html`<div class="notice ${state === "error" ? "bad" : "warn"}">${text}<p><a class="button primary" href="${path}/reconnect">${button}</a></p></div>`;
}

function signInFacts({ account, provider, scopes }: SignInFacts, integration: Integration | undefined): Markup {
  // Rights that were chosen in the form are shown in its words.
  const isShown = scopes.length > 0 && integration?.settingsForm?.some(({ kind }) => kind === "scopes") !== true;
  return html`<dt>Signed in</dt><dd>${account === undefined ? "" : `${account} `}at ${provider}</dd>
${isShown ? html`<dt>Rights</dt><dd>${scopes.join(", ")}</dd>` : ""}`;
}

/** A setting as the owner may see it; nothing for an optional one that was left empty. */
function settingFact({ name, label, kind, options, optional }: SettingField, { settings }: Connection): Markup {
  const value = settings[name];
  if (kind === "secret" && (typeof value === "string" || optional !== true)) {
    return html`<dt>${label}</dt><dd>${typeof value === "string" ? "Kept, encrypted" : "Missing"}</dd>`;
  }
  const shown = options?.find((one) => one.value === value)?.label ?? value;
  return typeof shown === "string" ? html`<dt>${label}</dt><dd>${shortenText(shown, 200)}</dd>` : html``;
}
