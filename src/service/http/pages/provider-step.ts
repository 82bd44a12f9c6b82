import { html } from "hono/html";
import { findProviderSteps } from "../../../apps/known/provider-steps.ts";
import type { SignInStep } from "../../connections/sign-in/provider-sign-ins.ts";
import { csrfField, type Markup, messageBody } from "./page.ts";

/** The next step of a sign-in. A form must not lead to another site, a link may. */
export function stepBody(o: {
  readonly name: string;
  readonly step: SignInStep;
  readonly csrfToken: string;
  readonly redirectUri: string;
}): Markup {
  const { name, step } = o;
  const heading = `Sign in to ${name}`;
  const actions = (button: Markup) => html`<div class="actions">${button}<a href="/connections">Cancel</a></div>`;
  if (step.kind === "done") return messageBody({ heading, text: "Signed in." });
  if (step.kind === "page") {
    const text = `The page of ${step.url.host} asks you whether this service may act for you. It leads back here when you are done.${sayTarget(step.sentTo)}`;
    const link = html`<a class="button primary" href="${step.url.href}" rel="noreferrer">Continue at ${step.url.host}</a>`;
    return messageBody({ heading, text, next: actions(link) });
  }
  const known = html`${csrfField(o.csrfToken)}<input type="hidden" name="state" value="${step.state}">`;
  if (step.kind === "device") {
    const text = `Open ${step.url.host} on any device, type this code there, and come back.${sayTarget(step.sentTo)}`;
    const form = html`<div class="code"><p>Your code</p><strong>${step.userCode}</strong></div><form method="post" action="/sign-in/code">${known}<p><a class="button" href="${step.url.href}" rel="noreferrer" target="_blank">Open ${step.url.host}</a></p>${actions(html`<button class="primary">I have typed it</button>`)}</form>`;
    return messageBody({ heading, text, next: form });
  }
  const steps = findProviderSteps(step.page);
  const place = step.leadsBack ? ", with this redirect address:" : ".";
  const text = `${steps?.name ?? step.provider} does not know this service yet. Register it there as an app of your own${place}`;
  const form = html`${step.leadsBack ? html`<pre class="copy" tabindex="0"><code>${o.redirectUri}</code></pre>` : ""}
${providerSteps(steps)}
<form method="post" action="/sign-in/client">${known}
<div class="field"><label for="client-id">Client id</label><input id="client-id" name="client-id" required autocomplete="off" spellcheck="false"></div>
<div class="field"><label for="client-secret">Client secret${step.leadsBack ? html` <span class="optional">(optional)</span>` : ""}</label><input id="client-secret" name="client-secret" type="password" autocomplete="off"></div>
${actions(html`<button class="primary">Go on</button>`)}</form>`;
  return messageBody({ heading, text, next: form });
}

/** A server may name the provider of somebody else. */
function sayTarget(host: string | undefined): string {
  return host === undefined
    ? ""
    : ` What you allow there is then sent to ${host}: go on only if that host may act for you.`;
}

/** What to click at the provider, where that is known. */
function providerSteps(known: ReturnType<typeof findProviderSteps>): Markup {
  if (known === undefined) {
    return html`<p>Look for “OAuth apps” or “API applications” in its settings for developers, choose a web application, and copy its client id and secret.</p>`;
  }
  return html`<ol><li>Open <a href="${known.page}" rel="noreferrer" target="_blank">${new URL(known.page).host}</a>.</li>
${known.steps.map((one) => html`<li>${one}</li>`)}</ol>`;
}
