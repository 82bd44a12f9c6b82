import type { OpenAPIHono } from "@hono/zod-openapi";
import { installBody, installDecidedBody, unknownInstallBody } from "../../pages/install-page.ts";
import { listConnectedApps } from "../app-names.ts";
import type { RouteEnv } from "../guard.ts";
import { askToSignIn, findOwner, readOwnForm } from "../owner-browser.ts";
import { readDecision } from "../read-decision.ts";
import { sendPage } from "../send-page.ts";
import type { ServiceParts } from "../service-parts.ts";

/** The page on which the owner approves or declines one installation. */
export function addInstallPages(app: OpenAPIHono<RouteEnv>, parts: ServiceParts): void {
  app.get("/install/:token", async (c) => {
    const approvalToken = c.req.param("token");
    const owner = await findOwner(c, parts);
    if (owner === undefined) return askToSignIn(c, parts);
    const { csrfToken } = owner;
    const session = await parts.bootstrap.find(approvalToken);
    if (session === undefined) {
      return sendPage(c, { title: "Unknown request", body: unknownInstallBody(), csrfToken, status: 404 });
    }
    if (session.status !== "awaiting_approval") {
      const status = session.status === "expired" ? 410 : 200;
      return sendPage(c, { title: "Installation", body: installDecidedBody(session), csrfToken, status });
    }
    const apps = await listConnectedApps(parts);
    const body = installBody({ session, approvalToken, csrfToken, apps, now: parts.now() });
    return sendPage(c, { title: "Approve an installation", body, csrfToken });
  });
  app.post("/install/:token", async (c) => {
    const { owner, form } = await readOwnForm(c, parts);
    const approvalToken = c.req.param("token");
    // When somebody else was faster, the page that follows tells how the session ended.
    await parts.bootstrap.decide(approvalToken, owner.accountId, readDecision(form));
    return c.redirect(`/install/${encodeURIComponent(approvalToken)}`, 303);
  });
}
