import { type Context, Hono } from "hono";
import type { Result } from "hono/router";
import { TrieRouter } from "hono/router/trie-router";
import { getPath } from "hono/utils/url";
import { keepNewest } from "../../shared/base/newest.ts";
import { ServiceError } from "../service-error.ts";
import type { PageStatus } from "./pages/page.ts";
import { renderBare } from "./render-outcome.ts";
import { guardHost, guardOrigin, isBodyLost, type RouteEnv } from "./request.ts";
import type { ServiceParts } from "./service-parts.ts";
import { SESSION_PATH } from "./session-path.ts";
import { watchRequests } from "./watch-requests.ts";

/** Routes behind the guards of the service. */
export type GuardedApp = Hono<RouteEnv>;

/** The path that decides which route answers: the session path has no part in it. */
export function readRoutePath(request: Request): string {
  return getPath(request).replace(SESSION_PATH, "");
}

/** Addresses whose routes are kept, and the longest of them. */
const MAX_KEPT = 500;
const MAX_KEPT_CHARS = 200;

/** Looks for the routes of an address once: fixed words beside names in addresses rule out the quicker routers. */
class KeptRoutes<T> extends TrieRouter<T> {
  readonly #kept = new Map<string, Result<T>>();

  override match(method: string, path: string): Result<T> {
    if (path.length > MAX_KEPT_CHARS) return super.match(method, path);
    return keepNewest(this.#kept, `${method} ${path}`, MAX_KEPT, () => super.match(method, path));
  }
}

/**
 * Puts routes behind the guards that all of them have.
 *
 * @param o.addOpen adds those that pages of other web sites may ask, too
 */
export function createGuardedApp(
  parts: ServiceParts,
  o: { addOpen?(app: GuardedApp): void; add(app: GuardedApp): void },
): GuardedApp {
  const app = new Hono<RouteEnv>({
    getPath: (request, o) => o?.env?.routePath ?? readRoutePath(request),
    router: new KeptRoutes(),
  });
  app.onError((error, c) => renderRefusal(c, isBodyLost(c.env.incoming) ? bodyLost() : toServiceError(error, parts)));
  app.notFound((c) => renderRefusal(c, new ServiceError(404, "not_found", "There is nothing at this address.")));
  const watch = watchRequests(parts);
  if (watch !== undefined) app.use(watch);
  app.use(guardHost(parts));
  o.addOpen?.(app);
  app.use(guardOrigin(parts));
  o.add(app);
  refuseOtherMethods(app);
  return app;
}

/** Answers 405 with `Allow` where a path exists but not with this method. */
function refuseOtherMethods(app: Hono<RouteEnv>): void {
  const methods = new Map<string, Set<string>>();
  for (const { path, method } of app.routes) {
    if (method !== "ALL") methods.set(path, (methods.get(path) ?? new Set()).add(method));
  }
  for (const [path, allowed] of methods) {
    const allow = [...allowed].join(", ");
    app.all(path, async (c) => {
      const refusal = new ServiceError(405, "method_not_allowed", `This address takes only: ${allow}.`);
      const response = await renderRefusal(c, refusal);
      response.headers.set("allow", allow);
      return response;
    });
  }
}

/** Programs get a bare error, browsers on a page get a page. */
async function renderRefusal(c: Context<RouteEnv>, error: ServiceError): Promise<Response> {
  if (/^\/(api|health)/.test(c.req.path) || !c.req.header("accept")?.includes("text/html")) {
    return renderBare(error);
  }
  const { refusedBody, sendPage } = await import("./pages/page.ts");
  return sendPage(c, { title: "Refused", body: refusedBody(error), status: error.status as PageStatus });
}

function bodyLost(): ServiceError {
  return new ServiceError(400, "body_lost", "The connection ended before the whole request had arrived.");
}

/** The refusal that tells of an error; one that nobody expected is logged. */
export function toServiceError(error: unknown, parts: ServiceParts): ServiceError {
  if (error instanceof ServiceError) return error;
  parts.log({ level: "error", message: "A request failed unexpectedly.", cause: error });
  return new ServiceError(500, "unexpected_error", "Something unexpected went wrong in the service.", { cause: error });
}
