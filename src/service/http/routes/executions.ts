import type { Context, Hono } from "hono";
import { readCanonicalRequest } from "../../canonical/read-canonical-request.ts";
import { ServiceError } from "../../service-error.ts";
import { type RouteEnv, requireKey, unauthorized } from "../guard.ts";
import { watchClient } from "../incoming-body.ts";
import { readJsonObject } from "../read-json.ts";
import { renderStored, renderSummary } from "../render-error.ts";
import type { ServiceParts } from "../service-parts.ts";
import { readRenderOptions } from "../shrink-output.ts";

/** Largest body: as much as the tool-name endpoint takes besides file bytes. */
const BODY_LIMIT = 8 * 1024 * 1024;

/** "Execution (canonical)". */
export function addExecutionRoutes(app: Hono<RouteEnv>, parts: ServiceParts): void {
  app.post("/api/executions", async (c) => {
    const principal = await parts.keys.authenticate(c.req.raw.headers);
    if (principal === undefined) return refuseKey(parts);
    const clientGone = watchClient(c.env);
    const request = readCanonicalRequest(await readBody(c));
    const outcome = await parts.canonical.execute({ ...request, principal, clientGone });
    return renderSummary(outcome, readRenderOptions(c.req.raw.headers));
  });
  app.get("/api/executions/:id", requireKey(parts), async (c) => {
    const found = await parts.canonical.find(c.get("principal").accountId, c.req.param("id"));
    if (found === undefined) throw new ServiceError(404, "execution_not_found", "Execution not found.", { bare: true });
    return renderStored(found);
  });
}

/** "Authentication" 5: on this endpoint a refused key is answered in the endpoint's own shape. */
function refuseKey(parts: ServiceParts): Response {
  const at = new Date(parts.now()).toISOString();
  return renderSummary({
    status: "blocked",
    executionId: null,
    toolName: "",
    entry: undefined,
    connectionId: null,
    startedAt: at,
    finishedAt: at,
    error: unauthorized({ bare: false }),
  });
}

/** The document's statuses of this endpoint have no 413: a body that is too large is a malformed request. */
async function readBody(c: Context<RouteEnv>): Promise<Record<string, unknown>> {
  try {
    return await readJsonObject(c.req.raw, BODY_LIMIT);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status !== 413) throw error;
    throw new ServiceError(400, "body_too_large", error.message, { bare: true, cause: error });
  }
}
