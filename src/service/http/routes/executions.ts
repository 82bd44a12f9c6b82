import type { Context, Hono } from "hono";
import { z } from "zod";
import { bareErrorSchema, canonicalExecuteRequestSchema, nameUndo } from "../../../shared/wire/execution.ts";
import type { KeyProblem } from "../../auth/api-keys.ts";
import { blockedOutcome, type StoredExecution } from "../../executions/outcome.ts";
import { readCanonicalRequest, readIdempotencyKey, readToolRequest } from "../../executions/read-requests.ts";
import { createFileAccess } from "../../executions/resolve-files.ts";
import { refuseBare, ServiceError } from "../../service-error.ts";
import { bare, envelope, type Operation, problem, query, RESULT, RETRY_AFTER, segment } from "../openapi/operation.ts";
import { shapes } from "../openapi/shapes.ts";
import { readRenderOptions, renderEnvelope, renderStored, renderSummary } from "../render-outcome.ts";
import { type RouteEnv, readJsonObject, requireKey, unauthorized, watchClient } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";

/** Largest body: as much as the tool-name endpoint takes besides file bytes. */
const BODY_LIMIT = 8 * 1024 * 1024;

/** Body of the undo endpoint. */
const undoRequestSchema = z.looseObject({
  confirmed: z.boolean().optional(),
  preview_state: z.string().optional(),
});

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
  {
    ...EXECUTIONS,
    method: "post",
    path: "/api/executions/{id}/undo",
    summary:
      "Takes an execution back, up to 30 days later and unless something was changed since. A write like any other: it needs a confirmation, and is answered like POST /api/tools/{name}/execute.",
    parameters: [segment("id", "An execution_id.")],
    request: { required: false, content: { "application/json": undoRequestSchema } },
    answers: {
      200: { description: "It was taken back", body: shapes.SucceededEnvelope },
      400: bare("The body is no JSON object, or larger than 8 MB"),
      401: envelope("The connection must be signed in to again"),
      402: envelope("The usage limit of the day is reached"),
      403: envelope("A rule of the owner forbids it"),
      404: {
        description: "No such execution of this key, or nothing in its app can be undone",
        body: [bareErrorSchema, shapes.FailedEnvelope],
      },
      409: envelope("`undo_unavailable`: it cannot be taken back, with the reason"),
      412: envelope("Needs the approval of a human: send again with `confirmed` true and the `preview_state`"),
      422: envelope("The integration or the connection is not set up correctly"),
      429: envelope("The provider limits the rate", RETRY_AFTER),
      500: envelope("It failed unexpectedly"),
      503: envelope("The provider is not available or took too long"),
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
  app.post("/api/executions/:id/undo", requireKey(parts), async (c) => {
    const principal = c.get("principal");
    const { confirmed, confirmedLevel, previewState } = readToolRequest(await readBody(c));
    const known = await parts.canonical.find(principal, c.req.param("id"));
    const slug = known?.asked?.integrationId;
    if (known === undefined || slug === undefined) throw refuseBare(404, "execution_not_found", "Execution not found.");
    const toolName = nameUndo(slug);
    const outcome = await parts.executor.execute({
      principal,
      toolName,
      arguments: { execution_id: known.executionId },
      confirmed,
      confirmedLevel,
      previewState,
      findHold: (chosen) => parts.approvals.findHold(principal, chosen, { shape: "envelope", idempotency_key: null }),
      clientGone: watchClient(c.env),
      ...createFileAccess(parts, { account: principal.accountId, toolName }),
    });
    return renderEnvelope(outcome, readRenderOptions(c.req.raw.headers));
  });
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
