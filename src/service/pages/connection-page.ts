import { html } from "hono/html";
import type { Connection } from "../connections/connections.ts";
import { listMissingScopes, type MissingScope } from "../connections/scopes.ts";
import type { Integration, SettingField } from "../integrations/integration.ts";
import { csrfField, type Markup, noticeLine } from "./page.ts";
import { connectionTag } from "./state-tag.ts";

interface ConnectionPage {
  readonly connection: Connection;
  /** Undefined when the app is no longer installed. */
  readonly integration: Integration | undefined;
  readonly csrfToken: string;
  readonly notice: string | undefined;
}

/** One connection: what it reaches, what it may do, and everything its owner can change. */
export function connectionBody(o: ConnectionPage): Markup {
  const { connection, integration, csrfToken } = o;
  const missing = integration === undefined ? [] : listMissingScopes(integration, connection);
  const path = `/connections/${connection.id}`;
  return html`<h1>${connection.label}</h1>
<p class="lead">${integration?.name ?? connection.integration} · ${connectionTag(connection.state)}${connection.isDefault ? " · default" : ""}</p>
${noticeLine(o.notice)}
${stateNotice(connection, path)}
<section class="card" aria-labelledby="facts">
<h2 id="facts">What it reaches</h2>
<dl>
<dt>Id</dt><dd><code>${connection.id}</code></dd>
${(integration?.settingsForm ?? []).map((field) => settingFact(field, connection))}
<dt>Access</dt><dd>${missing.length === 0 ? "Everything the app offers" : "Limited"}</dd>
</dl>
${missingList(missing)}
<div class="actions">
${integration === undefined ? "" : html`<a class="button" href="${path}/reconnect">Change settings</a>`}
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

/** What was not granted and which actions need it; nothing when all was. */
export function missingList(missing: readonly MissingScope[]): Markup {
  if (missing.length === 0) return html``;
  return html`<p>Not granted:</p>
<ul>${missing.map(
    ({ scope, neededBy }) =>
      html`<li><code>${scope}</code>${neededBy.length === 0 ? "" : html`, needed by: ${neededBy.join(", ")}`}</li>`,
  )}</ul>`;
}

function stateNotice({ state, label }: Connection, path: string): Markup {
  if (state === "healthy") return html``;
  const text =
    state === "reauth_required"
      ? `The app refused the access of “${label}”. Until it is reconnected, calls to it are refused.`
      : `“${label}” does not work at the moment: it is down, or its settings are wrong. Until it works, calls to it are refused.`;
  return html`<div class="notice ${state === "error" ? "bad" : "warn"}"><p>${text}</p><p><a class="button primary" href="${path}/reconnect">Reconnect</a></p></div>`;
}

/** A setting as the owner may see it; nothing for an optional one that was left empty. */
function settingFact({ name, label, kind, options, optional }: SettingField, { settings }: Connection): Markup {
  const value = settings[name];
  if (kind === "secret" && (typeof value === "string" || optional !== true)) {
    return html`<dt>${label}</dt><dd>${typeof value === "string" ? "Kept, encrypted" : "Missing"}</dd>`;
  }
  const shown = options?.find((one) => one.value === value)?.label ?? value;
  return typeof shown === "string" ? html`<dt>${label}</dt><dd>${shown}</dd>` : html``;
}
