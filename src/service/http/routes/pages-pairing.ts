import type { OpenAPIHono } from "@hono/zod-openapi";
import { approvalBody, decidedBody, unknownSessionBody } from "../../pages/approval-page.ts";
import { listConnectedApps } from "../app-names.ts";
import type { RouteEnv } from "../guard.ts";
import { askToSignIn, findOwner, readOwnForm } from "../owner-browser.ts";
import { readDecision } from "../read-decision.ts";
import { sendPage } from "../send-page.ts";
import type { ServiceParts } from "../service-parts.ts";

/** The page on which the owner approves or declines one device. */
export function addPairingPages(app: OpenAPIHono<RouteEnv>, parts: ServiceParts): void {
  app.get("/pair/:token", async (c) => {
    const sessionToken = c.req.param("token");
    const owner = await findOwner(c, parts);
    if (owner === undefined) return askToSignIn(c, parts);
    const { csrfToken } = owner;
    const session = await parts.pairing.find(sessionToken);
    if (session === undefined) {
      return sendPage(c, { title: "Unknown request", body: unknownSessionBody(), csrfToken, status: 404 });
    }
    if (session.status !== "awaiting_approval") {
      const status = session.status === "expired" ? 410 : 200;
      return sendPage(c, { title: "Device pairing", body: decidedBody(session), csrfToken, status });
    }
    const apps = await listConnectedApps(parts);
    const body = approvalBody({ session, sessionToken, csrfToken, apps, now: parts.now() });
    return sendPage(c, { title: "Approve a device", body, csrfToken });
  });
  app.post("/pair/:token", async (c) => {
    const { owner, form } = await readOwnForm(c, parts);
    const sessionToken = c.req.param("token");
    // When somebody else was faster, the page that follows tells how the session ended.
    await parts.pairing.decide(sessionToken, owner.accountId, readDecision(form));
    return c.redirect(`/pair/${encodeURIComponent(sessionToken)}`, 303);
  });
}
