import type { Hono } from "hono";
import { homeBody } from "../../pages/home-page.ts";
import { nameApp } from "../app-names.ts";
import type { RouteEnv } from "../guard.ts";
import { listErrands } from "../list-errands.ts";
import { nameExecutions } from "../name-executions.ts";
import { askToSignIn, findOwner } from "../owner-browser.ts";
import { sendPage } from "../send-page.ts";
import type { ServiceParts } from "../service-parts.ts";

/** Executions shown on the home page. */
const RECENT = 5;

/** The page a sign-in leads to. */
export function addHomePage(app: Hono<RouteEnv>, parts: ServiceParts): void {
  app.get("/", async (c) => {
    const owner = await findOwner(c, parts);
    if (owner === undefined) return askToSignIn(c, parts);
    const { accountId, csrfToken } = owner;
    const connections = await parts.connections.list();
    const { items } = await parts.activity.list(accountId, {}, { size: RECENT });
    const body = homeBody({
      errands: await listErrands(parts, accountId, connections),
      devices: await parts.keys.list(accountId),
      connections: connections.map((connection) => ({ connection, app: nameApp(parts, connection.integration) })),
      recent: await nameExecutions(parts, items),
      now: parts.now(),
    });
    return sendPage(c, { title: "Home", body, csrfToken, section: "home" });
  });
}
