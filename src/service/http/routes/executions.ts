import type { Context, Hono } from "hono";
import { canonicalExecuteRequestSchema } from "../../../wire/execution.ts";
import type { KeyProblem } from "../../auth/api-keys.ts";
import { blockedOutcome, type StoredExecution } from "../../executions/outcome.ts";
import { readCanonicalRequest, readIdempotencyKey } from "../../executions/read-requests.ts";
import { refuseBare, ServiceError } from "../../service-error.ts";
import { bare, type Operation, problem, query, RESULT, RETRY_AFTER, segment } from "../openapi/operation.ts";
import { shapes } from "../openapi/shapes.ts";
import { readRenderOptions, renderStored, renderSummary } from "../render-outcome.ts";
import { type RouteEnv, readJsonObject, requireKey, unauthorized, watchClient } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";

/** Largest body: as much as the tool-name endpoint takes besides file bytes. */
const BODY_LIMIT = 8 * 1024 * 1024;

const EXECUTIONS = { tag: "Executions", access: "key" } as const;
const STORED = [shapes.SucceededSummary, shapes.FailedSummary, shapes.RunningSummary] as const;

/** OpenAPI description of these endpoints. */
export const executionOperations: readonly Operation[] = [
  {
    ...EXECUTIONS,
    method: "post",
    path: "/api/executions",
    summary:
      "Runs an action on the connection named as connection_id, else on the default one; an idempotency_key makes it safe to repeat for seven days.",
    parameters: [RESULT],
    request: { required: true, content: { "application/json": canonicalExecuteRequestSchema } },
    answers: {
      200: { description: "It ran", body: shapes.SucceededSummary },
      400: bare("`integration_id`, `action_id` or an object `input` is missing, or `files` was sent"),
      401: { description: "The key is refused", body: shapes.BlockedSummary },
      409: problem(
        "It did not run: confirmation, connection, scopes, unknown action, or a key with other input or connection",
      ),
      500: {
        description: "The input is not valid, or it ran and failed",
        body: shapes.FailedSummary,
        headers: RETRY_AFTER,
      },
    },
  },
  {
    ...EXECUTIONS,
    method: "get",
    path: "/api/executions",
    summary: "Finds what was done under an idempotency_key, or is being done. Nothing is run.",
    parameters: [query("idempotency_key", "1 to 200 characters, as sent to POST /api/executions.", true)],
    answers: {
      200: { description: "The execution that has the key", body: STORED },
      400: bare("`idempotency_key` is missing or too long"),
      404: bare("Nothing was done under this key so far"),
    },
  },
  {
    ...EXECUTIONS,
    method: "get",
    path: "/api/executions/{id}",
    summary: "Reads an execution with its whole output.",
    parameters: [segment("id", "An execution_id.")],
    answers: {
      200: { description: "The execution", body: STORED },
      404: bare("No such execution of this account"),
    },
  },
];

/** "Execution (canonical)". */
export function addExecutionRoutes(app: Hono<RouteEnv>, parts: ServiceParts): void {
  app.post("/api/executions", async (c) => {
    const principal = await parts.keys.authenticate(c.req.raw.headers);
    if (typeof principal === "string") return refuseKey(principal, parts);
    c.set("principal", principal);
    const clientGone = watchClient(c.env);
    const request = readCanonicalRequest(await readBody(c));
    const outcome = await parts.canonical.execute({ ...request, principal, clientGone });
    return renderSummary(outcome, readRenderOptions(c.req.raw.headers));
  });
  app.get("/api/executions", requireKey(parts), async (c) => {
    const key = readIdempotencyKey(c.req.query("idempotency_key"));
    if (key === undefined) throw refuseBare(400, "invalid_request", "idempotency_key is required.");
    return renderFound(await parts.canonical.findByKey(c.get("principal"), key));
  });
  app.get("/api/executions/:id", requireKey(parts), async (c) =>
    renderFound(await parts.canonical.find(c.get("principal"), c.req.param("id"))),
  );
}

function renderFound(found: StoredExecution | undefined): Response {
  if (found === undefined) throw refuseBare(404, "execution_not_found", "Execution not found.");
  return renderStored(found);
}

/** "Authentication" 5: on this endpoint a refused key is answered in the endpoint's own shape. */
function refuseKey(problem: KeyProblem, parts: ServiceParts): Response {
  return renderSummary(blockedOutcome(unauthorized(problem, { bare: false }), new Date(parts.now()).toISOString()));
}

/** The document's statuses of this endpoint have no 413: a body that is too large is a malformed request. */
async function readBody(c: Context<RouteEnv>): Promise<Record<string, unknown>> {
  try {
    return await readJsonObject(c.env, { limit: BODY_LIMIT });
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status !== 413) throw error;
    throw refuseBare(400, "body_too_large", error.message, error);
  }
}
