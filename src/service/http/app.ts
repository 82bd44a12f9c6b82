import { type Context, Hono, type MiddlewareHandler } from "hono";
import { getPath } from "hono/utils/url";
import { ServiceError } from "../service-error.ts";
import { addOpenApiRoute } from "./openapi/build-document.ts";
import { addConnectPages } from "./pages/connect.ts";
import { addConnectionPages } from "./pages/connections.ts";
import { addDevicePages } from "./pages/devices.ts";
import { addFlowPages } from "./pages/flows.ts";
import { addHomePage } from "./pages/home.ts";
import { addInboxPages } from "./pages/inbox.ts";
import { addKnownAppPages } from "./pages/known-apps.ts";
import { addLogPages } from "./pages/log.ts";
import { type PageStatus, refusedBody, sendPage } from "./pages/page.ts";
import { addPeoplePages } from "./pages/people.ts";
import { addRequestPages } from "./pages/requests.ts";
import { addReviewPages } from "./pages/review.ts";
import { addRulePages } from "./pages/rules.ts";
import { addSessionPages } from "./pages/sessions.ts";
import { addSignInPages } from "./pages/sign-in.ts";
import { renderBare } from "./render-outcome.ts";
import { guardHost, guardOrigin, isBodyLost, type RouteEnv } from "./request.ts";
import { addApprovalRoutes } from "./routes/approvals.ts";
import { addCatalogRoutes, addToolRoutes } from "./routes/catalog.ts";
import { addExecuteRoute } from "./routes/execute.ts";
import { addExecutionRoutes } from "./routes/executions.ts";
import { addFlowRoutes } from "./routes/flows.ts";
import { addHealthRoute } from "./routes/health.ts";
import { addIngestRoute } from "./routes/ingest.ts";
import { addMcpRoutes, addServerCardRoutes } from "./routes/mcp.ts";
import { addMetricsRoute, watchRequests } from "./routes/metrics.ts";
import { addOAuthRoutes } from "./routes/oauth.ts";
import { addBootstrapRoutes, addPairingRoutes } from "./routes/registration.ts";
import type { ServiceParts } from "./service-parts.ts";
import { readSessionPath, SESSION_PATH } from "./session-path.ts";

/** Puts all routes together. */
export function createApp(parts: ServiceParts): Hono<RouteEnv> {
  // The session path has no part in which route answers.
  const app = new Hono<RouteEnv>({ getPath: (request) => getPath(request).replace(SESSION_PATH, "") });
  app.onError((error, c) => renderRefusal(c, isBodyLost(c.env.incoming) ? bodyLost() : toServiceError(error, parts)));
  app.notFound((c) => renderRefusal(c, new ServiceError(404, "not_found", "There is nothing at this address.")));
  app.use(watchRequests(parts));
  app.use(guardHost(parts));
  addServerCardRoutes(app, parts);
  app.use(guardOrigin(parts));
  app.use(keepSessionPath);
  app.use("/api/*", async (c, next) => {
    await next();
    c.header("cache-control", "no-store");
    c.header("x-content-type-options", "nosniff");
  });
  addHealthRoute(app, parts);
  addMetricsRoute(app, parts);
  addOpenApiRoute(app, parts);
  addToolRoutes(app, parts);
  addExecuteRoute(app, parts);
  addExecutionRoutes(app, parts);
  addApprovalRoutes(app, parts);
  addCatalogRoutes(app, parts);
  addIngestRoute(app, parts);
  addPairingRoutes(app, parts);
  addBootstrapRoutes(app, parts);
  addMcpRoutes(app, parts);
  addOAuthRoutes(app, parts);
  addFlowRoutes(app, parts);
  addPageRoutes(app, parts);
  refuseOtherMethods(app);
  return app;
}

/** Redirects, which routes write as paths of the service, stay below the session path of the browser. */
const keepSessionPath: MiddlewareHandler<RouteEnv> = async (c, next) => {
  await next();
  const location = c.res.headers.get("location");
  if (location?.startsWith("/") && !SESSION_PATH.test(location))
    c.res.headers.set("location", `${readSessionPath(c.req.url)}${location}`);
};

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
  return sendPage(c, { title: "Refused", body: refusedBody(error), status: error.status as PageStatus });
}

function bodyLost(): ServiceError {
  return new ServiceError(400, "body_lost", "The connection ended before the whole request had arrived.");
}

function toServiceError(error: unknown, parts: ServiceParts): ServiceError {
  if (error instanceof ServiceError) return error;
  parts.log({ level: "error", message: "A request failed unexpectedly.", cause: error });
  return new ServiceError(500, "unexpected_error", "Something unexpected went wrong in the service.", { cause: error });
}

/** Pages for the owner's browser. They look only at the session cookie: an API key means nothing here. */
function addPageRoutes(app: Hono<RouteEnv>, parts: ServiceParts): void {
  addSignInPages(app, parts);
  addRequestPages(app, parts);
  addHomePage(app, parts);
  addInboxPages(app, parts);
  addDevicePages(app, parts);
  addConnectionPages(app, parts);
  addKnownAppPages(app, parts);
  addConnectPages(app, parts);
  addReviewPages(app, parts);
  addRulePages(app, parts);
  addFlowPages(app, parts);
  addLogPages(app, parts);
  addPeoplePages(app, parts);
  addSessionPages(app, parts);
}
