import type { OpenAPIHono } from "@hono/zod-openapi";
import { type Errand, homeBody, type NamedConnection } from "../../pages/home-page.ts";
import { nameApp } from "../app-names.ts";
import type { RouteEnv } from "../guard.ts";
import { nameExecutions } from "../name-executions.ts";
import { askToSignIn, findOwner } from "../owner-browser.ts";
import { sendPage } from "../send-page.ts";
import type { ServiceParts } from "../service-parts.ts";

/** Executions shown on the home page. */
const RECENT = 5;

/** The page a sign-in leads to. */
export function addHomePage(app: OpenAPIHono<RouteEnv>, parts: ServiceParts): void {
  app.get("/", async (c) => {
    const owner = await findOwner(c, parts);
    if (owner === undefined) return askToSignIn(c, parts);
    const { accountId, csrfToken } = owner;
    const connections = (await parts.connections.list()).map((connection) => ({
      connection,
      app: nameApp(parts, connection.integration),
    }));
    const { items } = await parts.activity.list(accountId, {}, { size: RECENT });
    const body = homeBody({
      errands: connections.flatMap(findErrand),
      devices: await parts.keys.list(accountId),
      connections,
      recent: await nameExecutions(parts, items),
      now: parts.now(),
    });
    return sendPage(c, { title: "Home", body, csrfToken, section: "home" });
  });
}

function findErrand({ connection, app }: NamedConnection): Errand[] {
  if (connection.state === "healthy") return [];
  return [
    {
      title: `“${connection.label}” must be reconnected`,
      text: connection.state === "error" ? `${app} cannot work as it is set up.` : `${app} refused the access.`,
      href: `/connections/${connection.id}/reconnect`,
      action: "Reconnect",
    },
  ];
}
