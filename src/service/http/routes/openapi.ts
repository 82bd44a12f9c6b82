import type { Hono } from "hono";
import type { RouteEnv } from "../guard.ts";
import { buildDocument } from "../openapi/build-document.ts";
import { allOperations } from "../openapi/operations/all-operations.ts";
import { shapes } from "../openapi/shapes.ts";
import type { ServiceParts } from "../service-parts.ts";

/** `GET /openapi.json`: the description of every endpoint, without a key. */
export function addOpenApiRoute(app: Hono<RouteEnv>, { baseUrl }: ServiceParts): void {
  let document: string | undefined;
  app.get("/openapi.json", (c) => {
    document ??= JSON.stringify(buildDocument(allOperations, { baseUrl, shapes }));
    return c.body(document, 200, { "content-type": "application/json", "cache-control": "no-cache" });
  });
}
