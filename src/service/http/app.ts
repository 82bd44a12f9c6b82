import { makeOnce } from "../../shared/base/concurrency.ts";
import { createGuardedApp, type GuardedApp, readRoutePath, toServiceError } from "./guarded-app.ts";
import { renderBare } from "./render-outcome.ts";
import type { RouteEnv } from "./request.ts";
import { addApprovalRoutes } from "./routes/approvals.ts";
import { addCatalogRoutes, addToolRoutes } from "./routes/catalog.ts";
import { addExecuteRoute } from "./routes/execute.ts";
import { addExecutionRoutes } from "./routes/executions.ts";
import { addFlowRoutes } from "./routes/flows.ts";
import { addHealthRoute } from "./routes/health.ts";
import { addHookRoute } from "./routes/hooks.ts";
import { addIngestRoute } from "./routes/ingest.ts";
import { addMcpRoutes, addServerCardRoutes } from "./routes/mcp.ts";
import { addMetricsRoute } from "./routes/metrics.ts";
import { addPreviewRoute } from "./routes/preview.ts";
import { addBootstrapRoutes, addPairingRoutes } from "./routes/registration.ts";
import type { ServiceParts } from "./service-parts.ts";

/** Addresses of {@link createProgramApp}; all others belong to the pages. */
const OF_PROGRAMS = /^\/(?:api|health|metrics|\.well-known\/mcp)(?:\/|$)/;

/** Puts all routes together. Those of the pages are loaded by the first request for one of them. */
export function createApp(parts: ServiceParts) {
  const programs = createProgramApp(parts);
  const getPages = makeOnce(async () => (await import("./page-app.ts")).createPageApp(parts));
  return {
    async fetch(request: Request, env: RouteEnv["Bindings"]): Promise<Response> {
      env.routePath = readRoutePath(request);
      if (isOfPrograms(env.routePath)) return programs.fetch(request, env);
      try {
        return await (await getPages()).fetch(request, env);
      } catch (error) {
        return renderBare(toServiceError(error, parts));
      }
    },
  };
}

/** True for a path that {@link createProgramApp} answers. */
export function isOfPrograms(path: string): boolean {
  return OF_PROGRAMS.test(path);
}

/** What programs ask: the API with MCP, and the health of the service. */
export function createProgramApp(parts: ServiceParts): GuardedApp {
  return createGuardedApp(parts, {
    addOpen: (app) => addServerCardRoutes(app, parts),
    add(app) {
      addHealthRoute(app, parts);
      addMetricsRoute(app, parts);
      addToolRoutes(app, parts);
      addExecuteRoute(app, parts);
      addPreviewRoute(app, parts);
      addExecutionRoutes(app, parts);
      addApprovalRoutes(app, parts);
      addCatalogRoutes(app, parts);
      addIngestRoute(app, parts);
      addPairingRoutes(app, parts);
      addBootstrapRoutes(app, parts);
      addMcpRoutes(app, parts);
      addFlowRoutes(app, parts);
      addHookRoute(app, parts);
    },
  });
}
