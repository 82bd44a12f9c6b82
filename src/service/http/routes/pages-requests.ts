import type { Hono } from "hono";
import type { RouteEnv } from "../guard.ts";
import { listConnectedApps } from "../names.ts";
import { askToSignIn, findOwner, readDecision, readOwnForm } from "../owner-browser.ts";
import { sendPage } from "../pages/page.ts";
import {
  DEVICE,
  decidedBody,
  INSTALLER,
  type KeyRequest,
  type RequestKind,
  requestBody,
  unknownRequestBody,
} from "../pages/request-page.ts";
import type { ServiceParts } from "../service-parts.ts";

/** The pages on which the owner approves or declines a request for a key. */
export function addRequestPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  addPages(app, parts, { kind: DEVICE, sessions: parts.pairing });
  addPages(app, parts, { kind: INSTALLER, sessions: parts.bootstrap });
}

interface RequestPages<Session extends KeyRequest> {
  readonly kind: RequestKind<Session>;
  readonly sessions: {
    open(token: string): Promise<Session | undefined>;
    decide(token: string, accountId: string, decision: "approve" | "decline"): Promise<boolean>;
  };
}

function addPages<Session extends KeyRequest>(
  app: Hono<RouteEnv>,
  parts: ServiceParts,
  { kind, sessions }: RequestPages<Session>,
): void {
  const { path, titles } = kind;
  app.get(`/${path}/:token`, async (c) => {
    const token = c.req.param("token");
    const owner = await findOwner(c, parts);
    if (owner === undefined) return askToSignIn(c, parts);
    const { csrfToken } = owner;
    const session = await sessions.open(token);
    if (session === undefined) {
      return sendPage(c, { title: "Unknown request", body: unknownRequestBody(kind), csrfToken, status: 404 });
    }
    if (session.status !== "awaiting_approval") {
      const status = session.status === "expired" ? 410 : 200;
      return sendPage(c, { title: titles[1], body: decidedBody(kind, session), csrfToken, status });
    }
    const apps = await listConnectedApps(parts);
    const body = requestBody(kind, { session, token, csrfToken, apps, now: parts.now() });
    return sendPage(c, { title: titles[0], body, csrfToken });
  });
  app.post(`/${path}/:token`, async (c) => {
    const { owner, form } = await readOwnForm(c, parts);
    const token = c.req.param("token");
    // When another decision was faster, the next page shows how the session ended.
    await sessions.decide(token, owner.accountId, readDecision(form));
    return c.redirect(`/${path}/${encodeURIComponent(token)}`, 303);
  });
}
