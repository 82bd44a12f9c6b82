import type { Context, Hono } from "hono";
import { z } from "zod";
import { HOLD_KEY } from "../../../shared/wire/approval.ts";
import { MAX_IDEMPOTENCY_KEY } from "../../../shared/wire/constants.ts";
import { toolExecuteRequestSchema } from "../../../shared/wire/execution.ts";
import type { CatalogEntry } from "../../catalog/catalog-entry.ts";
import { blockedOutcome } from "../../executions/outcome.ts";
import { readIdempotencyKey, readToolRequest } from "../../executions/read-requests.ts";
import { createFileAccess } from "../../executions/resolve-files.ts";
import { lendPieces } from "../../files/lend-pieces.ts";
import { type ExecuteBody, type ReadBodyOptions, readExecuteBody } from "../../files/read-execute-body.ts";
import { ServiceError } from "../../service-error.ts";
import {
  bare,
  envelope,
  type Operation,
  type OperationParameter,
  RESULT,
  RETRY_AFTER,
  segment,
} from "../openapi/operation.ts";
import { shapes } from "../openapi/shapes.ts";
import { readRenderOptions, renderEnvelope } from "../render-outcome.ts";
import { openBody, type RouteEnv, takeWhole, unauthorized, watchClient } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";

const KEY: OperationParameter = {
  name: HOLD_KEY,
  in: "header",
  description: "Recognises a call that is held for the owner when it is sent again; it counts for no other call.",
  schema: z.string().min(1).max(MAX_IDEMPOTENCY_KEY),
};

/** OpenAPI description of these endpoints. */
export const executeOperations: readonly Operation[] = [
  {
    method: "post",
    path: "/api/tools/{name}/execute",
    summary: "Runs a tool; takes file bytes and a choice of connection.",
    tag: "Tools",
    access: "key",
    parameters: [segment("name", "Full tool name from a list or search."), RESULT, KEY],
    request: { required: true, content: { "application/json": toolExecuteRequestSchema } },
    answers: {
      200: { description: "It ran", body: shapes.SucceededEnvelope },
      400: envelope("The arguments or their files are not valid"),
      401: envelope("The key is refused, or the connection must be signed in to again"),
      402: envelope("The usage limit of the day is reached"),
      403: envelope("A rule of the owner forbids it, or the connection lacks scopes that the tool needs"),
      404: envelope("There is no such tool, or the provider does not have what was asked for"),
      409: envelope("Not connected, or several connections and none chosen"),
      412: envelope("Needs the approval of a human: send again with `confirmed` true"),
      413: bare("The files hold more than 100 MB, or the rest more than 8 MB"),
      422: envelope("The integration or the connection is not set up correctly"),
      429: envelope("The provider limits the rate", RETRY_AFTER),
      500: envelope("It failed unexpectedly"),
      503: envelope("The provider is not available or took too long"),
    },
  },
];

/** "Execution (tool-name model)". */
export function addExecuteRoute(app: Hono<RouteEnv>, parts: ServiceParts): void {
  app.post("/api/tools/:name/execute", async (c) => {
    const toolName = c.req.param("name");
    const principal = await parts.keys.authenticate(c.req.raw.headers);
    if (typeof principal === "string") {
      return renderRefusal(parts, { toolName, entry: undefined, error: unauthorized(principal, { bare: false }) });
    }
    c.set("principal", principal);
    const clientGone = watchClient(c.env);
    const account = principal.accountId;
    let request: ExecuteBody;
    try {
      request = await readBody(c, { blobs: parts.blobs, account, signal: clientGone });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const { catalog } = await parts.access.view(principal);
      return renderRefusal(parts, { toolName, entry: catalog.find(toolName), error });
    }
    try {
      const idempotency_key = readIdempotencyKey(c.req.header(HOLD_KEY)) ?? null;
      const received = parts.fileEnvelopes ? request.files : undefined;
      const outcome = await parts.executor.execute({
        ...readToolRequest(request.body),
        toolName,
        principal,
        findHold: (chosen) => parts.approvals.findHold(principal, chosen, { shape: "envelope", idempotency_key }),
        clientGone,
        ...createFileAccess(parts, { account, toolName, received }),
      });
      return renderEnvelope(outcome, readRenderOptions(c.req.raw.headers));
    } finally {
      await request.dispose();
    }
  });
}

async function readBody({ env }: Context<RouteEnv>, options: ReadBodyOptions): Promise<ExecuteBody> {
  const whole = await takeWhole(env);
  if (whole !== undefined) return readExecuteBody(whole, options);
  const { bytes, contentLength } = openBody(env);
  return readExecuteBody(lendPieces(bytes), { ...options, contentLength });
}

/** A request that was refused before the executor saw it. */
function renderRefusal(
  { now }: ServiceParts,
  { error, ...known }: { toolName: string; entry: CatalogEntry | undefined; error: ServiceError },
): Response {
  return renderEnvelope(blockedOutcome(error, new Date(now()).toISOString(), known));
}
