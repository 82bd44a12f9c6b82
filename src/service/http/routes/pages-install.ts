import type { Hono } from "hono";
import { installBody, installDecidedBody, unknownInstallBody } from "../../pages/install-page.ts";
import type { RouteEnv } from "../guard.ts";
import type { ServiceParts } from "../service-parts.ts";
import { addRequestPages } from "./request-pages.ts";

/** The page on which the owner approves or declines one installation. */
export function addInstallPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  addRequestPages(app, parts, {
    path: "install",
    sessions: parts.bootstrap,
    waiting: { title: "Approve an installation", body: installBody },
    decided: { title: "Installation", body: installDecidedBody },
    unknownBody: unknownInstallBody,
  });
}
