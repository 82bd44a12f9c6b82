import type { Hono } from "hono";
import { devicesBody } from "../../pages/devices-page.ts";
import { ServiceError } from "../../service-error.ts";
import type { RouteEnv } from "../guard.ts";
import { askToSignIn, findOwner, readOwnForm } from "../owner-browser.ts";
import { findNotice } from "../read-query.ts";
import { sendPage } from "../send-page.ts";
import type { ServiceParts } from "../service-parts.ts";
import { listOAuthApps } from "./oauth.ts";

const NOTICES: Readonly<Record<string, string>> = {
  revoked: "The device was revoked. Its key no longer works.",
  withdrawn: "The app has no access any more.",
};

/** Devices and their keys. */
export function addDevicePages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  app.get("/devices", async (c) => {
    const owner = await findOwner(c, parts);
    if (owner === undefined) return askToSignIn(c, parts);
    const body = devicesBody({
      devices: await parts.keys.list(owner.accountId),
      csrfToken: owner.csrfToken,
      now: parts.now(),
      apps: await listOAuthApps(parts, owner.accountId),
      notice: findNotice(NOTICES, c.req.query("notice")),
    });
    return sendPage(c, { title: "Devices", body, csrfToken: owner.csrfToken, section: "devices" });
  });
  app.post("/devices/:id/revoke", async (c) => {
    const { owner } = await readOwnForm(c, parts);
    const isRevoked = await parts.keys.revoke(owner.accountId, c.req.param("id"));
    if (!isRevoked) throw new ServiceError(404, "unknown_device", "There is no such device, or it is revoked already.");
    return c.redirect("/devices?notice=revoked", 303);
  });
}
