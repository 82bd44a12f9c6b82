import { html } from "hono/html";
import type { PairingView } from "../registration/pairing-view.ts";
import { describeTime } from "./describe-time.ts";
import { csrfField, type Markup, messageBody } from "./page.ts";

/** Where the human decides about one device. */
export function approvalBody(o: {
  session: PairingView;
  sessionToken: string;
  csrfToken: string;
  /** Names of connected apps. */
  apps: readonly string[];
  now: number;
}): Markup {
  const { session } = o;
  const apps = o.apps.length === 0 ? "none yet" : o.apps.join(", ");
  return html`<section class="card" aria-labelledby="question">
<h1 id="question">Approve this device?</h1>
<p>A device asks for a key to your connected apps. Approve it only if you started this yourself, just now.</p>
<div class="code"><p>Must match the code on the device</p><strong>${session.displayCode}</strong></div>
<dl>
<dt>Device</dt><dd>${session.deviceLabel ?? "No name given"}</dd>
<dt>Client</dt><dd>${describeClient(session.client)}</dd>
<dt>Asked</dt><dd>${describeTime(session.createdAt, o.now)}</dd>
<dt>Expires</dt><dd>${describeTime(session.expiresAt, o.now)}</dd>
</dl>
<h2>What the key may do</h2>
<ul>
<li>Read from your connected apps (${apps}) without asking you each time.</li>
<li>Change things there when a call says that a person at the device confirmed it.</li>
<li>It cannot approve devices, sign in here or change your connections.</li>
</ul>
<p class="muted">You can revoke the key on the home page at any time.</p>
<form method="post" action="/pair/${o.sessionToken}">
${csrfField(o.csrfToken)}
<div class="actions">
<button class="primary" name="decision" value="approve">Approve device</button>
<button class="secondary" name="decision" value="decline">Decline</button>
</div>
</form>
</section>`;
}

/** What became of a session that no longer waits. */
export function decidedBody(session: PairingView): Markup {
  const device = session.deviceLabel ?? "The device";
  switch (session.status) {
    case "approved":
      return messageBody({
        heading: "Device approved",
        text: `${device} may fetch its key now. Go back to it: it continues by itself within a few seconds.`,
        next: html`<p class="muted">You can close this page.</p>`,
      });
    case "exchanged":
      return messageBody({
        heading: "Device paired",
        text: `${device} has its key. There is nothing more to do here.`,
        next: html`<p><a href="/">See or revoke paired devices</a></p>`,
      });
    case "denied":
      return messageBody({
        heading: "Device declined",
        text: `${device} got no key. If this was you after all, start pairing on the device again.`,
      });
    default:
      return messageBody({
        heading: "This request has expired",
        text: "A request waits 15 minutes. Start pairing on the device again and open the new link.",
      });
  }
}

/** No session has this token. */
export function unknownSessionBody(): Markup {
  return messageBody({
    heading: "This request is unknown",
    text: "The link is incomplete, or the request is too old. Start pairing on the device again and open the new link.",
  });
}

function describeClient(client: string | null): string {
  if (client === null) return "Plugin";
  return client === "cli" ? "Command line" : client;
}
