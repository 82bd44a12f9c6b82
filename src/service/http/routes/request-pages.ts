import type { Hono } from "hono";
import type { Markup } from "../../pages/page.ts";
import { listConnectedApps } from "../app-names.ts";
import type { RouteEnv } from "../guard.ts";
import { askToSignIn, findOwner, readOwnForm } from "../owner-browser.ts";
import { readDecision } from "../read-decision.ts";
import { sendPage } from "../send-page.ts";
import type { ServiceParts } from "../service-parts.ts";

/** What the owner decides about: where its sessions are, and how its pages look. */
export interface RequestPages<Session extends { readonly status: string }> {
  /** First part of the path; the token of the session follows. */
  readonly path: "pair" | "install";
  readonly sessions: {
    open(token: string): Promise<Session | undefined>;
    decide(token: string, accountId: string, decision: "approve" | "decline"): Promise<boolean>;
  };
  readonly waiting: {
    readonly title: string;
    body(o: { session: Session; token: string; csrfToken: string; apps: readonly string[]; now: number }): Markup;
  };
  readonly decided: { readonly title: string; body(session: Session): Markup };
  unknownBody(): Markup;
}

/** The page on which the owner approves or declines one request for a key. */
export function addRequestPages<Session extends { readonly status: string }>(
  app: Hono<RouteEnv>,
  parts: ServiceParts,
  { path, sessions, waiting, decided, unknownBody }: RequestPages<Session>,
): void {
  app.get(`/${path}/:token`, async (c) => {
    const token = c.req.param("token");
    const owner = await findOwner(c, parts);
    if (owner === undefined) return askToSignIn(c, parts);
    const { csrfToken } = owner;
    const session = await sessions.open(token);
    if (session === undefined) {
      return sendPage(c, { title: "Unknown request", body: unknownBody(), csrfToken, status: 404 });
    }
    if (session.status !== "awaiting_approval") {
      const status = session.status === "expired" ? 410 : 200;
      return sendPage(c, { title: decided.title, body: decided.body(session), csrfToken, status });
    }
    const apps = await listConnectedApps(parts);
    const body = waiting.body({ session, token, csrfToken, apps, now: parts.now() });
    return sendPage(c, { title: waiting.title, body, csrfToken });
  });
  app.post(`/${path}/:token`, async (c) => {
    const { owner, form } = await readOwnForm(c, parts);
    const token = c.req.param("token");
    // When somebody else was faster, the page that follows tells how the session ended.
    await sessions.decide(token, owner.accountId, readDecision(form));
    return c.redirect(`/${path}/${encodeURIComponent(token)}`, 303);
  });
}
