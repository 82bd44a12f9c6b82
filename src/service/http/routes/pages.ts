import type { OpenAPIHono } from "@hono/zod-openapi";
import { homeBody } from "../../pages/home-page.ts";
import { ServiceError } from "../../service-error.ts";
import { nameApp } from "../app-names.ts";
import type { RouteEnv } from "../guard.ts";
import { askToSignIn, findOwner, readOwnForm } from "../owner-browser.ts";
import { sendPage } from "../send-page.ts";
import type { ServiceParts } from "../service-parts.ts";
import { addInstallPages } from "./pages-install.ts";
import { addPairingPages } from "./pages-pairing.ts";
import { addSignInPages } from "./pages-sign-in.ts";

/** Pages for the owner's browser. They look only at the session cookie: an API key means nothing here. */
export function addPageRoutes(app: OpenAPIHono<RouteEnv>, parts: ServiceParts): void {
  addSignInPages(app, parts);
  addPairingPages(app, parts);
  addInstallPages(app, parts);
  addHomeRoutes(app, parts);
}

function addHomeRoutes(app: OpenAPIHono<RouteEnv>, parts: ServiceParts): void {
  app.get("/", async (c) => {
    const owner = await findOwner(c, parts);
    if (owner === undefined) return askToSignIn(c, parts);
    const body = homeBody({
      devices: await parts.keys.list(owner.accountId),
      connections: (await parts.connections.list()).map((connection) => ({
        connection,
        app: nameApp(parts, connection.integration),
      })),
      csrfToken: owner.csrfToken,
      now: parts.now(),
      notice: c.req.query("notice") === "revoked" ? "The device was revoked. Its key no longer works." : undefined,
    });
    return sendPage(c, { title: "Home", body, csrfToken: owner.csrfToken });
  });
  app.post("/devices/:id/revoke", async (c) => {
    const { owner } = await readOwnForm(c, parts);
    const isRevoked = await parts.keys.revoke(owner.accountId, c.req.param("id"));
    if (!isRevoked) throw new ServiceError(404, "unknown_device", "There is no such device, or it is revoked already.");
    return c.redirect("/?notice=revoked", 303);
  });
}
