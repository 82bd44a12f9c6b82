import type { OpenAPIHono } from "@hono/zod-openapi";
import type { RouteEnv } from "../guard.ts";

/** `GET /health`, without a key: 200 while the service answers. */
export function addHealthRoute(app: OpenAPIHono<RouteEnv>): void {
  app.get("/health", (c) => c.json({ ok: true }));
}
