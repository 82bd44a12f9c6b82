import type { Hono } from "hono";
import { approvalBody, decidedBody, unknownSessionBody } from "../../pages/approval-page.ts";
import type { RouteEnv } from "../guard.ts";
import type { ServiceParts } from "../service-parts.ts";
import { addRequestPages } from "./request-pages.ts";

/** The page on which the owner approves or declines one device. */
export function addPairingPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  addRequestPages(app, parts, {
    path: "pair",
    sessions: parts.pairing,
    waiting: { title: "Approve a device", body: approvalBody },
    decided: { title: "Device pairing", body: decidedBody },
    unknownBody: unknownSessionBody,
  });
}
