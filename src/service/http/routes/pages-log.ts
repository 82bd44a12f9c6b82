import type { Hono } from "hono";
import { z } from "zod";
import type { ActivityFilter } from "../../executions/activity.ts";
import { restoreError } from "../../executions/outcome.ts";
import { ServiceError } from "../../service-error.ts";
import type { RouteEnv } from "../guard.ts";
import { nameApp, nameExecutions } from "../names.ts";

import { askToSignIn, findOwner } from "../owner-browser.ts";
import { executionBody, logBody } from "../pages/log-page.ts";

import { sendPage } from "../pages/page.ts";
import type { ServiceParts } from "../service-parts.ts";

const PAGE_SIZE = 25;

const day = z.iso.date().optional().catch(undefined);
const text = z.string().min(1).max(200).optional().catch(undefined);

/** Filters as an address carries them; one that makes no sense does not filter. */
const querySchema = z.object({
  status: z.enum(["started", "succeeded", "failed", "refused"]).optional().catch(undefined),
  tool: text,
  connection: text,
  from: day,
  to: day,
  before: text,
});

/** The execution log and its entries. */
export function addLogPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  app.get("/log", async (c) => {
    const owner = await findOwner(c, parts);
    if (owner === undefined) return askToSignIn(c, parts);
    const { accountId, csrfToken } = owner;
    const { before, connection, ...query } = querySchema.parse(c.req.query());
    const filter: ActivityFilter = { ...query, connectionId: connection };
    const { items, next } = await parts.activity.list(accountId, filter, { size: PAGE_SIZE, before });
    const address = (position: string | undefined) => toAddress({ ...query, connection, before: position });
    const body = logBody({
      filter,
      tools: await parts.activity.listTools(accountId),
      connections: (await parts.connections.list()).map(({ id, label, integration }) => [
        id,
        `${label} (${nameApp(parts, integration)})`,
      ]),
      rows: await nameExecutions(parts, items),
      olderHref: next === undefined ? undefined : address(next),
      newestHref: before === undefined ? undefined : address(undefined),
      now: parts.now(),
    });
    return sendPage(c, { title: "Execution log", body, csrfToken, section: "log" });
  });
  app.get("/log/:id", async (c) => {
    const owner = await findOwner(c, parts);
    if (owner === undefined) return askToSignIn(c, parts);
    const { accountId, csrfToken } = owner;
    const execution = await parts.activity.find(accountId, c.req.param("id"));
    const [named] = execution === undefined ? [] : await nameExecutions(parts, [execution]);
    if (named === undefined) throw new ServiceError(404, "unknown_execution", "There is no such execution.");
    const error = named.execution.error === null ? undefined : restoreError(named.execution.error).message;
    const body = executionBody({ ...named, error });
    return sendPage(c, { title: named.title, body, csrfToken, section: "log" });
  });
}

function toAddress(query: Readonly<Record<string, string | undefined>>): string {
  const set = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  return `/log?${new URLSearchParams(Object.fromEntries(set))}`;
}
