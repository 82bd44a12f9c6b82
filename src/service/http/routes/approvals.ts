import type { Hono } from "hono";
import { z } from "zod";
import { APPROVAL_STATUSES, type ApprovalStatus, MAX_APPROVAL_WAIT_SECONDS } from "../../../shared/wire/approval.ts";
import type { HeldApproval } from "../../approvals/approval-rows.ts";
import { followApproval, type Patience } from "../../approvals/follow-approval.ts";
import type { Principal } from "../../auth/api-keys.ts";
import type { ExecutionOutcome } from "../../executions/outcome.ts";
import { summariseOutcome } from "../../executions/summarise-outcome.ts";
import { ServiceError } from "../../service-error.ts";
import { bare, type Operation, query, segment } from "../openapi/operation.ts";
import { shapes } from "../openapi/shapes.ts";
import { describeEnvelope } from "../render-outcome.ts";
import { type RouteEnv, readLimit, requireKey, watchClient } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import { sendJson } from "../whole-answer.ts";

const ID = segment("id", "An approval id, from `error.approval` of a refused call.");

const WAIT = z.int().min(0).max(MAX_APPROVAL_WAIT_SECONDS).default(0);

/** OpenAPI description of these endpoints. */
export const approvalOperations: readonly Operation[] = [
  {
    method: "get",
    path: "/api/approvals",
    summary: "Lists the approvals that this key asked for, newest first, at most 200.",
    tag: "Approvals",
    access: "key",
    parameters: [query("status", `Only those with this status: ${APPROVAL_STATUSES.join(", ")}.`)],
    answers: {
      200: { description: "The approvals", body: shapes.ApprovalList },
      400: bare("`status` is none of the statuses"),
    },
  },
  {
    method: "get",
    path: "/api/approvals/{id}",
    summary: "Reads an approval with the result of its call, after waiting for a change of its status if asked to.",
    tag: "Approvals",
    access: "key",
    parameters: [ID, { ...query("wait", "Seconds to wait for a change."), schema: WAIT }],
    answers: {
      200: { description: "The approval", body: shapes.ApprovalReply },
      404: bare("No such approval of this key"),
    },
  },
  {
    method: "post",
    path: "/api/approvals/{id}/cancel",
    summary: "Withdraws a request that is not decided yet.",
    tag: "Approvals",
    access: "key",
    parameters: [ID],
    answers: {
      200: { description: "It is cancelled", body: shapes.ApprovalReply },
      404: bare("No such approval of this key"),
      409: bare("It is decided, or has expired"),
    },
  },
];

/** Approvals that the service holds, for the key that asked. Only a signed-in human decides: see the inbox. */
export function addApprovalRoutes(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { approvals } = parts;
  app.use("/api/approvals/*", requireKey(parts));
  app.get("/api/approvals", requireKey(parts), async (c) => {
    const { accountId, apiKeyId } = c.get("principal");
    const status = readStatus(c.req.query("status"));
    const found = await approvals.list(accountId, { apiKeyId, ...(status !== undefined && { status }) });
    return sendJson({ approvals: found.map((approval) => describe(parts, approval)) });
  });
  app.get("/api/approvals/:id", async (c) => {
    const id = c.req.param("id");
    const wait = readLimit(c.req.query("wait"), { min: 0, max: MAX_APPROVAL_WAIT_SECONDS, byDefault: 0 });
    const patience = { waitMs: wait * 1000, clientGone: watchClient(c.env) };
    return sendJson(
      await describeWhole(parts, await requireOwn(parts, { principal: c.get("principal"), id }, patience)),
    );
  });
  app.post("/api/approvals/:id/cancel", async (c) => {
    const id = c.req.param("id");
    if (await approvals.cancel(c.get("principal"), id)) {
      return sendJson(await describeWhole(parts, await requireOwn(parts, { principal: c.get("principal"), id })));
    }
    throw new ServiceError(409, "conflict", "This approval is decided already, or has expired.", { bare: true });
  });
}

function readStatus(text: string | undefined): ApprovalStatus | undefined {
  const status = APPROVAL_STATUSES.find((known) => known === text);
  if (status !== undefined || text === undefined || text === "") return status;
  const message = `\`status\` must be one of: ${APPROVAL_STATUSES.join(", ")}.`;
  throw new ServiceError(400, "invalid_request", message, { bare: true });
}

async function requireOwn(
  { approvals }: ServiceParts,
  asked: { readonly principal: Principal; readonly id: string },
  patience?: Patience,
) {
  const found = await followApproval(approvals, asked, patience);
  if (found !== undefined) return found;
  throw new ServiceError(404, "approval_not_found", "There is no such approval.", { bare: true });
}

function describe(
  { approvals }: ServiceParts,
  { id, status, requestedAt, expiresAt, decidedAt, reason, editedBy, content }: HeldApproval,
) {
  const edited = editedBy === null || content === undefined ? {} : { editedArguments: content.arguments };
  return { id, status, url: approvals.urlOf(id), requestedAt, expiresAt, decidedAt, reason, ...edited };
}

/** `result` is the body that the execute endpoint would have answered with. */
async function describeWhole(parts: ServiceParts, approval: HeldApproval) {
  const outcome = await parts.approvals.findResult(approval);
  const isEnvelope = approval.row.shape === "envelope";
  const render = () =>
    isEnvelope ? describeEnvelope(outcome as ExecutionOutcome) : outcome && summariseOutcome(outcome);
  return { approval: describe(parts, approval), result: outcome === undefined ? null : render() };
}
