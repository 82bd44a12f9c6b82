import type { Hono } from "hono";
import { ServiceError } from "../../service-error.ts";
import type { RouteEnv } from "../guard.ts";
import { renderBare } from "../render-error.ts";
import type { ServiceParts } from "../service-parts.ts";

/** `GET /health`, without a key: 200 while the service can work, 503 while a shared database cannot be reached. */
export function addHealthRoute(app: Hono<RouteEnv>, parts: ServiceParts): void {
  app.get("/health", (c) => {
    if (parts.node.isReachable()) return c.json({ ok: true });
    const message = "The database of this service cannot be reached at the moment.";
    return renderBare(new ServiceError(503, "database_unavailable", message, { retryAfterSeconds: 2 }));
  });
}
