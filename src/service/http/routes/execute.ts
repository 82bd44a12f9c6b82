import type { Hono } from "hono";
import type { Principal } from "../../auth/api-keys.ts";
import { createFileAccess } from "../../executions/file-access.ts";
import type { ExecutionOutcome } from "../../executions/outcome.ts";
import { readToolRequest } from "../../executions/read-tool-request.ts";
import { type ExecuteBody, readExecuteBody } from "../../files/read-execute-body.ts";
import { ServiceError } from "../../service-error.ts";
import { type RouteEnv, unauthorized } from "../guard.ts";
import { type IncomingBody, openBody } from "../incoming-body.ts";
import { renderEnvelope } from "../render-error.ts";
import type { ServiceParts } from "../service-parts.ts";
import { readRenderOptions } from "../shrink-output.ts";

/** "Execution (tool-name model)". */
export function addExecuteRoute(app: Hono<RouteEnv>, parts: ServiceParts): void {
  app.post("/api/tools/:name/execute", async (c) => {
    const toolName = c.req.param("name");
    const principal = await parts.keys.authenticate(c.req.raw.headers);
    if (principal === undefined) return renderRefusal(toolName, unauthorized({ bare: false }), parts);
    const incoming = openBody(c.env);
    let request: ExecuteBody;
    try {
      request = await readBody(incoming, principal, parts);
    } catch (error) {
      if (error instanceof ServiceError) return renderRefusal(toolName, error, parts);
      throw error;
    }
    try {
      const outcome = await execute(parts, { toolName, principal, request, incoming });
      return renderEnvelope(outcome, readRenderOptions(c.req.raw.headers));
    } finally {
      await request.dispose();
    }
  });
}

function readBody(incoming: IncomingBody, { accountId }: Principal, parts: ServiceParts): Promise<ExecuteBody> {
  return readExecuteBody(incoming.bytes, {
    ...(incoming.contentLength !== undefined && { contentLength: incoming.contentLength }),
    blobs: parts.blobs,
    account: accountId,
    signal: incoming.clientGone,
  });
}

function execute(
  parts: ServiceParts,
  o: { toolName: string; principal: Principal; request: ExecuteBody; incoming: IncomingBody },
): Promise<ExecutionOutcome> {
  const received = parts.fileEnvelopes ? o.request.files : undefined;
  return parts.executor.execute({
    ...readToolRequest(o.request.body),
    toolName: o.toolName,
    principal: o.principal,
    clientGone: o.incoming.clientGone,
    ...createFileAccess(parts, { account: o.principal.accountId, toolName: o.toolName, received }),
  });
}

/** A request that was refused before the executor saw it. */
function renderRefusal(toolName: string, error: ServiceError, parts: ServiceParts): Response {
  const at = new Date(parts.now()).toISOString();
  const entry = error.code === "unauthorized" ? undefined : parts.catalog.find(toolName);
  return renderEnvelope({
    status: "blocked",
    executionId: null,
    toolName,
    entry,
    connectionId: null,
    startedAt: at,
    finishedAt: at,
    error,
  });
}
