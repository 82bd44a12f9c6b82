import type { Context, MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import { toPlainText } from "../../shared/card/plain-text.ts";
import type { ServiceLog } from "../service-error.ts";
import { traceNothing } from "../telemetry/telemetry.ts";
import { readCallerAddress } from "./caller-address.ts";
import type { RouteEnv } from "./request.ts";
import type { ServiceParts } from "./service-parts.ts";

/**
 * Counts every request where metrics are on, makes a span of it where spans are, and writes a line about it where these
 * are; undefined without all three.
 */
export function watchRequests({
  metrics,
  trace,
  log,
  accessLog,
  trustedProxies,
}: Pick<ServiceParts, "metrics" | "trace" | "log" | "accessLog" | "trustedProxies">):
  | MiddlewareHandler<RouteEnv>
  | undefined {
  if (metrics === undefined && trace === traceNothing && !accessLog) return undefined;
  return async (c, next) => {
    const begun = performance.now();
    // Before the answer: the connection of a caller that goes away tells no address any more.
    const address = accessLog ? readCallerAddress(c.env.incoming, trustedProxies) : "";
    const route = findRoute(c);
    const { method, raw } = c.req;
    const attributes = { "http.request.method": method, "http.route": route };
    const traced = { name: `${method} ${route}`, kind: "server", attributes, headers: raw.headers } as const;
    await trace(traced, next, () => {
      const { status } = c.res;
      return { isError: status >= 500, attributes: { "http.response.status_code": status } };
    });
    const ms = performance.now() - begun;
    metrics?.countRequest(ms / 1000, route, c.res.status);
    if (accessLog) log(describeRequest(c, { route, ms, address }));
  };
}

const NO_ROUTE = "none";

/** The pattern that matched: there are as many as routes, whatever is asked for. */
function findRoute(c: Context): string {
  const path = matchedRoutes(c).at(-1)?.path ?? "";
  return path.endsWith("*") ? NO_ROUTE : path;
}

/** Names of path parts that open nothing by themselves; all others, such as `:token`, are written by their name. */
const SHOWN_PARTS = new Set([":id", ":name", ":slug", ":integration", ":action", ":index"]);
const MAX_PATH = 200;
/** Characters of the id of a key: enough to find it. */
const KEY_CHARS = 12;

function describeRequest(
  c: Context<RouteEnv>,
  { route, ms, address }: { route: string; ms: number; address: string },
): Parameters<ServiceLog>[0] {
  const { method } = c.req;
  const path = showPath(c.env.routePath ?? c.req.path, route);
  // Answers that a library writes have their status there only.
  const status = c.env.outgoing.headersSent ? c.env.outgoing.statusCode : c.res.status;
  const took = Math.round(ms);
  const key = c.get("principal")?.apiKeyId.slice(0, KEY_CHARS);
  return {
    level: "info",
    message: `${method} ${path} ${status} ${took} ms ${address}${key === undefined ? "" : ` ${key}`}`,
    facts: { event: "request", method, path, status, ms: took, address, ...(key !== undefined && { key }) },
  };
}

/** The path without what signs somebody in. Of an address that is none only its beginning is shown: it may be mistyped. */
function showPath(path: string, route: string): string {
  const parts = path.split("/");
  if (route === NO_ROUTE) {
    const [, first = ""] = parts;
    return toPlainText(parts.length > 2 || first.length > 20 ? `/${first.slice(0, 20)}…` : path);
  }
  const shown = route.split("/").map((part, at) => (SHOWN_PARTS.has(part) ? (parts[at] ?? "") : part));
  return toPlainText(shown.join("/"), { max: MAX_PATH });
}
