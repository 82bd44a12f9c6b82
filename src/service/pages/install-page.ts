import { html } from "hono/html";
import type { BootstrapView } from "../registration/bootstrap-view.ts";
import { describeTime } from "./describe-time.ts";
import { type Markup, messageBody } from "./page.ts";
import { listKeyRights, requestCard } from "./request-card.ts";

/** Where the human decides about one installer. */
export function installBody(o: {
  session: BootstrapView;
  token: string;
  csrfToken: string;
  /** Names of connected apps. */
  apps: readonly string[];
  now: number;
}): Markup {
  const { session } = o;
  const named = [
    { name: "Computer", value: session.hostname },
    { name: "System", value: session.platform },
    { name: "Agent", value: session.agent },
  ].flatMap(({ name, value }) => (value === null ? [] : [{ name, value }]));
  return requestCard({
    heading: "Approve this installation?",
    intro:
      "An installer asks to connect an agent client to your apps. Approve it only if you started this yourself, just now.",
    code: { where: "in the installer", value: session.displayCode },
    facts: [
      { name: "Client", value: session.clientLabel ?? "No name given" },
      ...named,
      { name: "Asked from", value: session.address },
      { name: "Asked", value: describeTime(session.createdAt, o.now) },
      { name: "Expires", value: describeTime(session.expiresAt, o.now) },
    ],
    rightsHeading: "What the key in its configuration may do",
    rights: listKeyRights(o.apps),
    footnote:
      "Names and system are what the installer says about itself. You can revoke the key on the devices page at any time.",
    action: `/install/${o.token}`,
    csrfToken: o.csrfToken,
    approveLabel: "Approve installation",
  });
}

/** What became of an installation that no longer waits. */
export function installDecidedBody(session: BootstrapView): Markup {
  const client = session.clientLabel ?? "The installer";
  switch (session.status) {
    case "approved":
      return messageBody({
        heading: "Installation approved",
        text: `${client} may fetch its configuration now. Go back to the installer: it continues by itself within a few seconds.`,
        next: html`<p class="muted">You can close this page.</p>`,
      });
    case "consumed":
      return messageBody({
        heading: "Installation complete",
        text: `${client} has its configuration. There is nothing more to do here.`,
        next: html`<p><a href="/devices">See or revoke keys</a></p>`,
      });
    case "denied":
      return messageBody({
        heading: "Installation declined",
        text: `${client} got no key. If this was you after all, start the installation again.`,
      });
    default:
      return messageBody({
        heading: "This request has expired",
        text: "A request waits 15 minutes. Start the installation again and open the new link.",
      });
  }
}

/** No session has this token. */
export function unknownInstallBody(): Markup {
  return messageBody({
    heading: "This request is unknown",
    text: "The link is incomplete, or the request is too old. Start the installation again and open the new link.",
  });
}
