import type { Hono } from "hono";
import { z } from "zod";
import type { RouteEnv } from "../guard.ts";
import { buildDocument } from "../openapi/build-document.ts";
import type { Operation } from "../openapi/operation.ts";
import { shapes } from "../openapi/shapes.ts";
import type { ServiceParts } from "../service-parts.ts";
import { catalogOperations } from "./catalog.ts";
import { executeOperations } from "./execute.ts";
import { executionOperations } from "./executions.ts";
import { flowOperations } from "./flows.ts";
import { healthOperations } from "./health.ts";
import { ingestOperations } from "./ingest.ts";
import { mcpOperations } from "./mcp.ts";
import { oauthOperations } from "./oauth.ts";
import { bootstrapOperations, pairingOperations } from "./registration.ts";

import { toolOperations } from "./tools.ts";

/** Every operation of the service except pages and the endpoints of the OAuth library. */
export const allOperations: readonly Operation[] = [
  ...toolOperations,
  ...executeOperations,
  ...executionOperations,
  ...catalogOperations,
  ...flowOperations,
  ...mcpOperations,
  ...oauthOperations,
  ...pairingOperations,
  ...bootstrapOperations,
  ...ingestOperations,
  ...healthOperations,
  {
    method: "get",
    path: "/openapi.json",
    summary: "This document.",
    tag: "Service",
    access: "anybody",
    answers: { 200: { description: "OpenAPI 3.1", body: z.looseObject({ openapi: z.string() }) } },
  },
];

/** `GET /openapi.json`: the description of every endpoint, without a key. */
export function addOpenApiRoute(app: Hono<RouteEnv>, { baseUrl }: ServiceParts): void {
  let document: string | undefined;
  app.get("/openapi.json", (c) => {
    document ??= JSON.stringify(buildDocument(allOperations, { baseUrl, shapes }));
    return c.body(document, 200, { "content-type": "application/json", "cache-control": "no-cache" });
  });
}
