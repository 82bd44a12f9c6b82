import type { Hono } from "hono";
import {
  FLOW_TRIGGER_TYPES,
  type FlowTriggerType,
  flowApproveRequestSchema,
  flowStartRequestSchema,
} from "../../../wire/flow.ts";
import { FLOW_PAGE } from "../../../wire/limits.ts";
import { refuseState } from "../../flows/describe-conflict.ts";
import { ServiceError } from "../../service-error.ts";
import { type RouteEnv, requireKey } from "../guard.ts";
import { readJsonObject } from "../read-json.ts";
import { readLimit } from "../read-query.ts";
import type { ServiceParts } from "../service-parts.ts";

/** "Flows". */
export function addFlowRoutes(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { flows } = parts;
  app.use("/api/flows", requireKey(parts));
  app.use("/api/flows/*", requireKey(parts));
  app.get("/api/flows/templates", (c) => c.json({ templates: [...flows.templates] }));
  app.post("/api/flows/start", async (c) => {
    const start = readStart(await readJsonObject(c.req.raw));
    const flow = await flows.start({ principal: c.get("principal"), ...start });
    return c.json({ flowId: flow.flow.id, flow, templates: [...flows.templates] });
  });
  app.get("/api/flows", async (c) => {
    const limit = readLimit(c.req.query("limit"), { max: FLOW_PAGE.max, byDefault: FLOW_PAGE.default });
    return c.json({ flows: await flows.list(c.get("principal").accountId, limit) });
  });
  app.get("/api/flows/:id", async (c) => c.json(await flows.get(c.get("principal").accountId, c.req.param("id"))));
  addMoveRoutes(app, parts);
}

function addMoveRoutes(app: Hono<RouteEnv>, { flows, flowApprovals, baseUrl }: ServiceParts): void {
  app.post("/api/flows/:id/approve", async (c) => {
    const { accountId, apiKeyId } = c.get("principal");
    const id = c.req.param("id");
    const { stepKey } = readApproval(await readJsonObject(c.req.raw));
    if (flowApprovals === "dashboard") {
      await flows.get(accountId, id);
      throw refuseState(`The owner of this service approves flows in the dashboard only: ${baseUrl}/flows/${id}`);
    }
    return c.json(await flows.approve(accountId, id, { stepKey, by: `API key ${apiKeyId}` }));
  });
  for (const verb of ["resume", "cancel"] as const) {
    app.post(`/api/flows/:id/${verb}`, async (c) => {
      await readJsonObject(c.req.raw);
      return c.json(await flows[verb](c.get("principal").accountId, c.req.param("id")));
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
  return new ServiceError(400, "invalid_request", message, { bare: true });
}
