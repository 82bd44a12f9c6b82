import { html } from "hono/html";
import type { ApprovedApp } from "../../oauth/oauth-records.ts";
import { csrfField, type Markup, messageBody } from "./page.ts";
import { listRights, requestCard } from "./request-page.ts";
import { timeTag } from "./time-tag.ts";

/** Meaning of each scope for the owner. */
const SCOPE_TEXT: Readonly<Record<string, string>> = {
  openid: "Know which account it speaks for.",
  email: "Read the e-mail address of this account, if there is one.",
  profile: "Read the name of this account, if there is one.",
};

/** Where the owner decides about an app that asks for access through OAuth. */
export function oauthApprovalBody(o: {
  id: string;
  /** As the app calls itself. */
  clientName: string | null;
  /** Where the browser is sent afterwards: host, or scheme of an installed app. */
  destination: string;
  isLocal: boolean;
  scopes: readonly string[];
  /** Names of connected apps. */
  apps: readonly string[];
  action: string;
  csrfToken: string;
}): Markup {
  const name = o.clientName ?? "this app";
  return requestCard({
    heading: `Give ${name} access?`,
    intro:
      "An app asks to use your connected apps through MCP. Approve it only if you started this yourself, just now.",
    facts: [
      ["App", html`${o.clientName ?? "No name given"} <span class="muted">(it chose this name itself)</span>`],
      [
        "Sends you to",
        html`<strong>${o.destination}</strong>${o.isLocal ? html` <span class="muted">(a program on this computer)</span>` : ""}`,
      ],
      ["Scopes", o.scopes.join(", ")],
    ],
    rightsHeading: "What it may do",
    rights: [...o.scopes.flatMap((scope) => SCOPE_TEXT[scope] ?? []), ...listRights(o.apps, "devices or apps")],
    footnote: "You can withdraw the access on the Devices page at any time.",
    action: o.action,
    csrfToken: o.csrfToken,
    approveLabel: "Approve",
  });
}

/** The request was answered, has ended, or began in another browser. */
export function noOAuthRequestBody(): Markup {
  return messageBody({
    heading: "Nothing to decide here",
    text: "This request was answered already, has ended after 15 minutes, or was started in another browser. Start again in the app.",
  });
}

/** Apps with access through OAuth, each with a way to withdraw it; nothing when there is none. */
export function oauthAppsSection(
  apps: readonly (ApprovedApp & { readonly label: string; readonly destination: string })[],
  { csrfToken, now }: { csrfToken: string; now: number },
): Markup {
  if (apps.length === 0) return html``;
  return html`<section class="card" aria-labelledby="oauth-apps"><h2 id="oauth-apps">Apps with access through OAuth</h2>
<ul class="rows">${apps.map((app) => appRow(app, { csrfToken, now }))}</ul></section>`;
}

function appRow(
  { clientId, label, destination, approvedAt }: ApprovedApp & { label: string; destination: string },
  { csrfToken, now }: { csrfToken: string; now: number },
): Markup {
  return html`<li><div><strong>${label}</strong><span class="muted">${destination} · approved ${timeTag(approvedAt, now)}</span></div>
<details><summary aria-label="Withdraw ${label}">Withdraw</summary>
<p class="muted">The app is refused at once and has to ask again.</p>
<form method="post" action="/oauth/apps/${encodeURIComponent(clientId)}/end">${csrfField(csrfToken)}<button class="danger">Withdraw ${label}</button></form>
</details></li>`;
}
