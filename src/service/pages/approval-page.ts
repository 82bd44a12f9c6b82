import { html } from "hono/html";
import type { PairingView } from "../registration/pairing-view.ts";
import { describeTime } from "./describe-time.ts";
import { type Markup, messageBody } from "./page.ts";
import { listKeyRights, requestCard } from "./request-card.ts";

/** Where the human decides about one device. */
export function approvalBody(o: {
  session: PairingView;
  token: string;
  csrfToken: string;
  /** Names of connected apps. */
  apps: readonly string[];
  now: number;
}): Markup {
  const { session } = o;
  return requestCard({
    heading: "Approve this device?",
    intro: "A device asks for a key to your connected apps. Approve it only if you started this yourself, just now.",
    code: { where: "on the device", value: session.displayCode },
    facts: [
      { name: "Device", value: session.deviceLabel ?? "No name given" },
      { name: "Client", value: describeClient(session.client) },
      { name: "Asked", value: describeTime(session.createdAt, o.now) },
      { name: "Expires", value: describeTime(session.expiresAt, o.now) },
    ],
    rightsHeading: "What the key may do",
    rights: listKeyRights(o.apps),
    footnote: "You can revoke the key on the devices page at any time.",
    action: `/pair/${o.token}`,
    csrfToken: o.csrfToken,
    approveLabel: "Approve device",
  });
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
        next: html`<p><a href="/devices">See or revoke paired devices</a></p>`,
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

/** The client of a key or pairing as a person calls it. */
export function describeClient(client: string | null): string {
  if (client === null) return "Plugin";
  return client === "cli" ? "Command line" : client;
}
