import type { Context } from "hono";
import { html } from "hono/html";
import { findPasskeySite } from "../passkey-site.ts";
import type { RouteEnv } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import type { Markup, Page } from "./page.ts";

/** Where people get a sign-in link. */
const HOW_TO_SIGN_IN = html`<p>In a terminal on the machine that runs the service:</p>
<pre tabindex="0"><code>svc login-link</code></pre>
<p>Add <code>--data FOLDER</code> if the service keeps its data in another folder than the usual one.</p>
<p>Then open the printed link in this browser and press “Sign in”. It works once, for 10 minutes.</p>
<p>Were you invited? Ask an owner of this service for a new link.</p>`;

/** What a stranger can do to sign in, for a page that says whether it needs the script of passkeys. */
export interface WaysIn extends Required<Pick<Page, "usesPasskeys">> {
  readonly ways: Markup;
}

/** The ways to sign in: a passkey, once somebody has one for this address, and always a link. */
export async function findWaysIn(c: Context<RouteEnv>, parts: ServiceParts): Promise<WaysIn> {
  const site = findPasskeySite(c, parts);
  if (site === undefined || !(await parts.passkeys.isUsedAt(site)))
    return { usesPasskeys: false, ways: HOW_TO_SIGN_IN };
  const ways = html`<form method="post" action="/sign-in/passkey" data-passkey="use" hidden>
<input type="hidden" name="answer">
<div class="actions"><button class="primary">Sign in with a passkey</button></div>
<p class="problem" role="status"></p></form>
<details><summary>Sign in with a link</summary>
${HOW_TO_SIGN_IN}</details>`;
  return { usesPasskeys: true, ways };
}
