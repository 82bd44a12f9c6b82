import type { Context, Hono } from "hono";
import { z } from "zod";
import { FLOW_PAGE } from "../../../shared/wire/constants.ts";
import {
  FLOW_TRIGGER_TYPES,
  type FlowTriggerType,
  flowApproveRequestSchema,
  flowStartRequestSchema,
} from "../../../shared/wire/flow.ts";
import { refuseState } from "../../flows/flow-moves.ts";
import { tellPreviews } from "../../flows/tell-previews.ts";
import { refuseBare, type ServiceError } from "../../service-error.ts";
import { bare, count, type Operation, segment } from "../openapi/operation.ts";
import { shapes } from "../openapi/shapes.ts";
import { type RouteEnv, readJsonObject, readLimit, requireKey } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import { sendJson } from "../whole-answer.ts";

const FLOWS = { tag: "Flows", access: "key" } as const;
const VIEW = { description: "The flow and its steps", body: shapes.FlowView } as const;
const LIST = { max: FLOW_PAGE.max, byDefault: FLOW_PAGE.default } as const;
const UNKNOWN = bare("No such flow of this account");
const TOO_LARGE = bare("The body is larger than 1 MB");

/** Describes an endpoint that changes the state of a flow. */
function move(verb: "approve" | "resume" | "cancel", summary: string): Operation {
  const body = verb === "approve" ? flowApproveRequestSchema : z.looseObject({});
  return {
    ...FLOWS,
    method: "post",
    path: `/api/flows/{id}/${verb}`,
    summary,
    parameters: [segment("id", "A flow id.")],
    request: { required: false, content: { "application/json": body } },
    answers: {
      200: VIEW,
      404: UNKNOWN,
      409: bare("The flow is not in a state that allows this"),
      413: TOO_LARGE,
    },
  };
}

/** OpenAPI description of these endpoints. */
export const flowOperations: readonly Operation[] = [
  {
    ...FLOWS,
    method: "get",
    path: "/api/flows/templates",
    summary: "Lists what flows can be started.",
    answers: { 200: { description: "The templates", body: shapes.FlowTemplates } },
  },
  {
    ...FLOWS,
    method: "post",
    path: "/api/flows/start",
    summary: "Starts a flow from a template.",
    request: { required: true, content: { "application/json": flowStartRequestSchema } },
    answers: {
      200: { description: "The flow as it stands shortly after", body: shapes.FlowStarted },
      400: bare("An unknown template, or an input that the template does not take"),
      413: TOO_LARGE,
    },
  },
  {
    ...FLOWS,
    method: "get",
    path: "/api/flows",
    summary: "Lists flows, most recent first.",
    parameters: [count("limit", `1 to ${FLOW_PAGE.max}; other numbers are clamped.`, LIST)],
    answers: { 200: { description: "The flows", body: shapes.FlowList } },
  },
  {
    ...FLOWS,
    method: "get",
    path: "/api/flows/{id}",
    summary: "Reads a flow with its steps.",
    parameters: [segment("id", "A flow id.")],
    answers: { 200: VIEW, 404: UNKNOWN },
  },
  move("approve", "Approves the step that a flow waits on."),
  move("resume", "Drives a waiting flow on, or tries a failed one again."),
  move("cancel", "Ends a flow."),
];

/** "Flows". */
export function addFlowRoutes(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { flows } = parts;
  app.use("/api/flows", requireKey(parts));
  app.use("/api/flows/*", requireKey(parts));
  app.get("/api/flows/templates", (c) => sendJson({ templates: flows.listTemplates(c.get("view")) }));
  app.post("/api/flows/start", async (c) => {
    const start = readStart(await readJsonObject(c.env));
    const principal = c.get("principal");
    const flow = await tellPreviews(parts, principal, await flows.start({ principal, ...start }));
    return sendJson({ flowId: flow.flow.id, flow, templates: flows.listTemplates(c.get("view")) });
  });
  app.get("/api/flows", async (c) => {
    const limit = readLimit(c.req.query("limit"), LIST);
    const { accountId } = c.get("principal");
    return sendJson({ flows: await flows.list(c.get("view").isLimited ? c.get("principal") : { accountId }, limit) });
  });
  app.get("/api/flows/:id", async (c) => {
    const view = await flows.get(c.get("principal").accountId, await readId(c, parts));
    return sendJson(await tellPreviews(parts, c.get("principal"), view));
  });
  addMoveRoutes(app, parts);
}

/** The id of a flow; to a limited key, those of others do not exist: they may use more. */
async function readId(c: Context<RouteEnv>, { flows }: ServiceParts): Promise<string> {
  const id = c.req.param("id") ?? "";
  if (c.get("view").isLimited) await flows.requireOwn(c.get("principal"), id);
  return id;
}

function addMoveRoutes(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { flows, flowApprovals, approvals, baseUrl } = parts;
  app.post("/api/flows/:id/approve", async (c) => {
    const { accountId, apiKeyId } = c.get("principal");
    const id = await readId(c, parts);
    const { stepKey } = readApproval(await readJsonObject(c.env));
    if (flowApprovals === "dashboard" || (await approvals.readMode(apiKeyId)) === "owner") {
      await flows.get(accountId, id);
      throw refuseState(`The owner of this service approves flows in the dashboard only: ${baseUrl}/flows/${id}`);
    }
    const view = await flows.approve(accountId, id, { stepKey, by: `API key ${apiKeyId}` });
    return sendJson(await tellPreviews(parts, c.get("principal"), view));
  });
  for (const verb of ["resume", "cancel"] as const) {
    app.post(`/api/flows/:id/${verb}`, async (c) => {
      const id = await readId(c, parts);
      await readJsonObject(c.env);
      const view = await flows[verb](c.get("principal").accountId, id);
      return sendJson(await tellPreviews(parts, c.get("principal"), view));
    });
  }
}

function readStart(sent: Record<string, unknown>): {
  templateKey: string;
  input: Record<string, unknown>;
  triggerType: FlowTriggerType;
} {
  const parsed = flowStartRequestSchema.safeParse({ ...sent, input: sent.input ?? {} });
  if (parsed.success) {
    const { flowTemplate, input = {}, triggerType = "manual" } = parsed.data;
    return { templateKey: flowTemplate, input, triggerType };
  }
  switch (parsed.error.issues[0]?.path[0]) {
    case "flowTemplate":
      throw refuse("`flowTemplate` is required: a key from GET /api/flows/templates.");
    case "triggerType":
      throw refuse(`\`triggerType\` must be one of: ${FLOW_TRIGGER_TYPES.join(", ")}.`);
    default:
      throw refuse("`input` must be an object.");
  }
}

function readApproval(sent: Record<string, unknown>): { stepKey: string | undefined } {
  const parsed = flowApproveRequestSchema.safeParse(sent);
  if (parsed.success) return { stepKey: parsed.data.stepKey };
  throw refuse("`stepKey` must be a string: the key of the step that waits.");
}

function refuse(message: string): ServiceError {
  return refuseBare(400, "invalid_request", message);
}
