import {
  type FlowApproveRequest,
  type FlowList,
  type FlowStartReply,
  type FlowStartRequest,
  type FlowTemplates,
  type FlowView,
  flowListSchema,
  flowStartReplySchema,
  flowTemplatesSchema,
  flowViewSchema,
} from "../wire/flow.ts";
import { FLOW_PAGE } from "../wire/limits.ts";
import { readResource } from "./reply.ts";
import { type CallOptions, capLimit, encodeSegment, type Transport } from "./transport.ts";

/** `GET /api/flows/templates`. */
export async function listFlowTemplates(transport: Transport, options?: CallOptions): Promise<FlowTemplates> {
  const reply = await transport.call({ method: "GET", path: "/api/flows/templates", options });
  return readResource(reply, flowTemplatesSchema);
}

/** `POST /api/flows/start`. */
export async function startFlow(
  transport: Transport,
  body: FlowStartRequest,
  options?: CallOptions,
): Promise<FlowStartReply> {
  const reply = await transport.call({ method: "POST", path: "/api/flows/start", body, options });
  return readResource(reply, flowStartReplySchema);
}

/** `GET /api/flows/{id}`. */
export async function getFlow(transport: Transport, id: string, options?: CallOptions): Promise<FlowView> {
  const reply = await transport.call({ method: "GET", path: `/api/flows/${encodeSegment(id, "id")}`, options });
  return readResource(reply, flowViewSchema);
}

/** `GET /api/flows`. */
export async function listFlows(
  transport: Transport,
  query: { readonly limit?: number | undefined },
  options?: CallOptions,
): Promise<FlowList> {
  const limit = capLimit(query.limit, FLOW_PAGE.max);
  const reply = await transport.call({ method: "GET", path: "/api/flows", query: { limit }, options });
  return readResource(reply, flowListSchema);
}

/** `POST /api/flows/{id}/approve`, `/resume` and `/cancel`. */
export async function moveFlow(
  transport: Transport,
  move: { readonly id: string; readonly verb: "approve" | "resume" | "cancel"; readonly body?: FlowApproveRequest },
  options?: CallOptions,
): Promise<FlowView> {
  const path = `/api/flows/${encodeSegment(move.id, "id")}/${move.verb}`;
  return readResource(await transport.call({ method: "POST", path, body: move.body, options }), flowViewSchema);
}
