import { type Context, Hono } from "hono";
import { refusedBody } from "../pages/sign-in-page.ts";
import { ServiceError } from "../service-error.ts";
import { guardHost, guardOrigin, type RouteEnv } from "./guard.ts";
import { renderBare } from "./render-error.ts";
import { addBootstrapRoutes } from "./routes/bootstrap.ts";
import { addCatalogRoutes } from "./routes/catalog.ts";
import { addExecuteRoute } from "./routes/execute.ts";
import { addExecutionRoutes } from "./routes/executions.ts";
import { addFlowRoutes } from "./routes/flows.ts";
import { addHealthRoute } from "./routes/health.ts";
import { addIngestRoute } from "./routes/ingest.ts";
import { addMcpRoutes, addServerCardRoutes } from "./routes/mcp.ts";
import { addOAuthRoutes } from "./routes/oauth.ts";
import { addOpenApiRoute } from "./routes/openapi.ts";
import { addPageRoutes } from "./routes/pages.ts";
import { addPairingRoutes } from "./routes/pairing.ts";
import { addToolRoutes } from "./routes/tools.ts";
import { type PageStatus, sendPage } from "./send-page.ts";
import type { ServiceParts } from "./service-parts.ts";

/** Puts all routes together. */
export function createApp(parts: ServiceParts): Hono<RouteEnv> {
  const app = new Hono<RouteEnv>();
  app.onError((error, c) => renderRefusal(c, toServiceError(error, parts)));
  app.notFound((c) => renderRefusal(c, new ServiceError(404, "not_found", "There is nothing at this address.")));
  app.use(guardHost(parts));
  addServerCardRoutes(app, parts);
  app.use(guardOrigin(parts));
  app.use("/api/*", async (c, next) => {
    await next();
    c.header("cache-control", "no-store");
    c.header("x-content-type-options", "nosniff");
  });
  addHealthRoute(app, parts);
  addOpenApiRoute(app, parts);
  addToolRoutes(app, parts);
  addExecuteRoute(app, parts);
  addExecutionRoutes(app, parts);
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

function toServiceError(error: unknown, parts: ServiceParts): ServiceError {
  if (error instanceof ServiceError) return error;
  parts.log({ level: "error", message: "A request failed unexpectedly.", cause: error });
  return new ServiceError(500, "unexpected_error", "Something unexpected went wrong in the service.", { cause: error });
}
