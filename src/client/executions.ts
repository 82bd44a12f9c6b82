import {
  type CanonicalExecuteRequest,
  type ExecutionEnvelope,
  type ExecutionSummary,
  executionSummarySchema,
  type ToolExecuteRequest,
} from "../wire/execution.ts";
import { type ApiReply, badResponse, isRedirect, readResource, recogniseShape } from "./reply.ts";
import type { RequestBody } from "./request.ts";
import { type CallOptions, encodeSegment, type Transport } from "./transport.ts";

/** What the service answered to an execution, by the shape of its body. A failure is an answer too. */
export type ExecuteReply =
  | {
      readonly kind: "envelope";
      readonly status: number;
      readonly envelope: ExecutionEnvelope;
      readonly retryAfterMs?: number;
    }
  | {
      readonly kind: "summary";
      readonly status: number;
      readonly summary: ExecutionSummary;
      readonly retryAfterMs?: number;
    }
  | { readonly kind: "bare"; readonly status: number; readonly error: string; readonly retryAfterMs?: number };

/** `POST /api/tools/{name}/execute`. */
export async function executeTool(
  transport: Transport,
  call: { readonly name: string; readonly body: ToolExecuteRequest | RequestBody },
  options?: CallOptions,
): Promise<ExecuteReply> {
  const path = `/api/tools/${encodeSegment(call.name, "name")}/execute`;
  return toExecuteReply(await transport.call({ method: "POST", path, body: call.body, options }));
}

/** `POST /api/executions`. */
export async function execute(
  transport: Transport,
  body: CanonicalExecuteRequest,
  options?: CallOptions,
): Promise<ExecuteReply> {
  return toExecuteReply(await transport.call({ method: "POST", path: "/api/executions", body, options }));
}

/** `GET /api/executions/{id}`. A stored summary is returned whatever it says; a refused lookup is thrown. */
export async function getExecution(transport: Transport, id: string, options?: CallOptions): Promise<ExecutionSummary> {
  const path = `/api/executions/${encodeSegment(id, "id")}`;
  return readExecution(await transport.call({ method: "GET", path, options }));
}

/** The stored execution in an answer; a refused lookup is thrown. */
export function readExecution(reply: ApiReply): ExecutionSummary {
  const shape = recogniseShape(reply.json);
  if (shape?.kind === "summary" && typeof shape.summary.execution_id === "string") return shape.summary;
  return readResource(reply, executionSummarySchema);
}

/** The answer of an execute call by its shape; throws `bad_response` when it has none. */
export function toExecuteReply(reply: ApiReply): ExecuteReply {
  const shape = recogniseShape(reply.json);
  const isBareSuccess = shape?.kind === "bare" && reply.status < 300;
  if (shape === undefined || isRedirect(reply.status) || isBareSuccess) throw badResponse(reply);
  const wait = reply.retryAfterMs === undefined ? {} : { retryAfterMs: reply.retryAfterMs };
  return { ...shape, status: reply.status, ...wait };
}
