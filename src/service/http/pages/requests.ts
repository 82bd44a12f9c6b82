import type { Hono } from "hono";
import { html } from "hono/html";
import type { KeyScopes } from "../../../shared/wire/key-scopes.ts";
import type { BootstrapSession } from "../../auth/registration/bootstrap.ts";
import type { PairingSession } from "../../auth/registration/pairing.ts";
import type { KeyDecision } from "../../auth/registration/waiting-session.ts";
import type { ApprovalMode } from "../../store/schema.ts";
import type { Change } from "../audit.ts";
import { ownerPages, readDecision } from "../owner-browser.ts";
import type { RouteEnv } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import { listConnectedApps } from "./app-names.ts";
import { describeAsked, foldLimits, type LimitNames, listLimitNames, readGrant, resolveApps } from "./limits.ts";

import { listRights, type Markup, messageBody, type RequestCard, requestCard } from "./page.ts";
import { timeTag } from "./values.ts";

/** The pages on which the owner approves or declines a request for a key. */
export function addRequestPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  addPages(app, parts, { kind: DEVICE, sessions: parts.pairing });
  addPages(app, parts, { kind: INSTALLER, sessions: parts.bootstrap });
}

interface RequestPages<Session extends KeyRequest> {
  readonly kind: RequestKind<Session>;
  readonly sessions: {
    open(token: string): Promise<Session | undefined>;
    decide(token: string, decision: KeyDecision): Promise<boolean>;
  };
}

function addPages<Session extends KeyRequest>(
  app: Hono<RouteEnv>,
  parts: ServiceParts,
  { kind, sessions }: RequestPages<Session>,
): void {
  const { path, titles } = kind;
  const { addPage, addForm } = ownerPages(app, parts);
  addPage(`/${path}/:token`, async (c, { csrfToken }) => {
    const token = c.req.param("token");
    const session = await sessions.open(token);
    if (session === undefined) {
      const text = `The link is incomplete, or the request is too old. ${kind.retry} and open the new link.`;
      return { title: "Unknown request", body: messageBody({ heading: "This request is unknown", text }), status: 404 };
    }
    if (session.status !== "awaiting_approval") {
      return { title: titles[1], body: decidedBody(kind, session), status: session.status === "expired" ? 410 : 200 };
    }
    const apps = await listConnectedApps(parts);
    const scopes = resolveApps(session.scopes, parts);
    const approvals = parts.approvals.isFixed ? undefined : (session.scopes.approvals ?? kind.approvals);
    const names = await listLimitNames(parts);
    return {
      title: titles[0],
      body: requestBody(kind, { session, scopes, token, csrfToken, apps, approvals, names, now: parts.now() }),
    };
  });
  addForm(`/${path}/:token`, async (c, { owner, form, audit }) => {
    const token = c.req.param("token");
    const decision = readDecision(form);
    const session = await sessions.open(token);
    const asked = resolveApps(session?.scopes ?? {}, parts);
    const approvals = parts.approvals.isFixed ? undefined : kind.approvals;
    const scopes = decision === "approve" ? readGrant(form, { asked, approvals }) : {};
    // When another decision was faster, the next page shows how the session ended.
    const isDecided = await sessions.decide(token, { accountId: owner.accountId, decision, scopes });
    if (isDecided && session !== undefined) audit({ ...kind.audit[decision], name: kind.nameOf(session) });
    return `/${path}/${encodeURIComponent(token)}`;
  });
}

/** Members that both kinds of sessions have. */
type KeyRequest = Pick<PairingSession, "display_code" | "created_at" | "expires_at" | "scopes"> & {
  readonly status: PairingSession["status"] | BootstrapSession["status"];
};

/** The words of one kind of request for a key. */
interface RequestKind<Session extends KeyRequest> {
  /** First part of the address; the token of the session follows. */
  readonly path: "pair" | "install";
  /** Preset of the choice who approves calls. */
  readonly approvals: ApprovalMode;
  /** Titles of the page while the request waits, and afterwards. */
  readonly titles: readonly [waiting: string, decided: string];
  readonly card: Pick<RequestCard, "heading" | "intro" | "rightsHeading" | "footnote" | "approveLabel">;
  readonly codePlace: string;
  facts(session: Session): (readonly [name: string, value: string])[];
  nameOf(session: Session): string;
  readonly approved: readonly [heading: string, text: string];
  readonly done: readonly [heading: string, text: string, link: string];
  readonly declined: string;
  readonly audit: Readonly<Record<"approve" | "decline", Pick<Change, "event" | "did">>>;
  /** How the human asks again. */
  readonly retry: string;
}

const DEVICE: RequestKind<PairingSession> = {
  path: "pair",
  approvals: "device",
  titles: ["Approve a device", "Device pairing"],
  card: {
    heading: "Approve this device?",
    intro: "A device asks for a key to your connected apps. Approve it only if you started this yourself, just now.",
    rightsHeading: "What the key may do",
    footnote: "You can revoke the key on the devices page at any time.",
    approveLabel: "Approve device",
  },
  codePlace: "on the device",
  facts: (session) => [
    ["Device", session.device_label ?? "No name given"],
    ["Client", describeClient(session.client)],
  ],
  nameOf: (session) => session.device_label ?? "The device",
  approved: ["Device approved", "may fetch its key now. Go back to it: it continues by itself within a few seconds."],
  done: ["Device paired", "has its key.", "See or revoke paired devices"],
  declined: "Device declined",
  audit: {
    approve: { event: "device.approved", did: "approved the device" },
    decline: { event: "device.declined", did: "declined the device" },
  },
  retry: "Start pairing on the device again",
};

const INSTALLER: RequestKind<BootstrapSession> = {
  path: "install",
  approvals: "owner",
  titles: ["Approve an installation", "Installation"],
  card: {
    heading: "Approve this installation?",
    intro:
      "An installer asks to connect an agent client to your apps. Approve it only if you started this yourself, just now.",
    rightsHeading: "What the key in its configuration may do",
    footnote:
      "Names and system are what the installer says about itself. You can revoke the key on the devices page at any time.",
    approveLabel: "Approve installation",
  },
  codePlace: "in the installer",
  facts: (session) => [
    ["Client", session.client_label ?? "No name given"],
    ...optional("Computer", session.hostname),
    ...optional("System", session.platform),
    ...optional("Agent", session.agent),
    ["Asked from", session.address],
  ],
  nameOf: (session) => session.client_label ?? "The installer",
  approved: [
    "Installation approved",
    "may fetch its configuration now. Go back to the installer: it continues by itself within a few seconds.",
  ],
  done: ["Installation complete", "has its configuration.", "See or revoke keys"],
  declined: "Installation declined",
  audit: {
    approve: { event: "device.approved", did: "approved the installation" },
    decline: { event: "device.declined", did: "declined the installation" },
  },
  retry: "Start the installation again",
};

function optional(name: string, value: string | null): (readonly [name: string, value: string])[] {
  return value === null ? [] : [[name, value]];
}

function requestBody<Session extends KeyRequest>(
  kind: RequestKind<Session>,
  o: {
    session: Session;
    /** Requested limits. */
    scopes: KeyScopes;
    token: string;
    csrfToken: string;
    apps: readonly string[];
    approvals: ApprovalMode | undefined;
    names: LimitNames;
    now: number;
  },
): Markup {
  const { session, scopes, names, now } = o;
  const wants = describeAsked(scopes, names);
  return requestCard({
    ...kind.card,
    code: { place: kind.codePlace, value: session.display_code },
    facts: [
      ...kind.facts(session),
      ["Asked", timeTag(session.created_at, now)],
      ["Expires", timeTag(session.expires_at, now)],
      ...(wants.length === 0 ? [] : [["Wants", html`${wants.map((line) => html`${line}<br>`)}`] as const]),
    ],
    rights: listRights({ apps: o.apps, mayChoose: o.approvals !== undefined, levels: scopes.levels }),
    approvals: o.approvals,
    limits: foldLimits({ scopes, names, isAsked: wants.length > 0 }),
    action: `/${kind.path}/${o.token}`,
    csrfToken: o.csrfToken,
  });
}

function decidedBody<Session extends KeyRequest>(kind: RequestKind<Session>, session: Session): Markup {
  const name = kind.nameOf(session);
  switch (session.status) {
    case "approved": {
      const [heading, text] = kind.approved;
      const next = html`<p class="muted">You can close this page.</p>`;
      return messageBody({ heading, text: `${name} ${text}`, next });
    }
    case "exchanged":
    case "consumed": {
      const [heading, text, link] = kind.done;
      const next = html`<p><a href="/devices">${link}</a></p>`;
      return messageBody({ heading, text: `${name} ${text} There is nothing more to do here.`, next });
    }
    case "denied":
      return messageBody({
        heading: kind.declined,
        text: `${name} got no key. Was this you after all? ${kind.retry}.`,
      });
    default: {
      const text = `A request waits 15 minutes. ${kind.retry} and open the new link.`;
      return messageBody({ heading: "This request has expired", text });
    }
  }
}

/** The client of a key or pairing as a person calls it. */
export function describeClient(client: string | null): string {
  if (client === null) return "Plugin";
  return client === "cli" ? "Command line" : client;
}
