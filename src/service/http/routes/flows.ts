import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { bareErrorSchema } from "../../../wire/bare-error.ts";
import {
  FLOW_TRIGGER_TYPES,
  type FlowTriggerType,
  flowApproveRequestSchema,
  flowListSchema,
  flowStartReplySchema,
  flowStartRequestSchema,
  flowTemplatesSchema,
  flowViewSchema,
} from "../../../wire/flow.ts";
import { FLOW_PAGE } from "../../../wire/limits.ts";
import { refuseState } from "../../flows/describe-conflict.ts";
import { ServiceError } from "../../service-error.ts";
import { type RouteEnv, requireKey } from "../guard.ts";
import { readJsonObject } from "../read-json.ts";
import { readLimit } from "../read-query.ts";
import type { ServiceParts } from "../service-parts.ts";

const json = <T extends z.ZodType>(schema: T, description: string) => ({
  description,
  content: { "application/json": { schema } },
});
const refused = { 401: json(bareErrorSchema, "Missing or invalid key") };
const missing = { ...refused, 404: json(bareErrorSchema, "No such flow of this account") };
const params = z.object({ id: z.string() });
const view = json(flowViewSchema, "The flow and its steps");
const badBody = { 400: json(bareErrorSchema, "Not a valid body"), 413: json(bareErrorSchema, "Body too large") };
const conflict = { 409: json(bareErrorSchema, "The flow is not in a state that allows this") };

const templatesRoute = createRoute({
  method: "get",
  path: "/api/flows/templates",
  responses: { 200: json(flowTemplatesSchema, "What flows can be started"), ...refused },
});
const startRoute = createRoute({
  method: "post",
  path: "/api/flows/start",
  responses: { 200: json(flowStartReplySchema, "The flow as it is after about two seconds"), ...badBody, ...refused },
});
const listRoute = createRoute({
  method: "get",
  path: "/api/flows",
  request: { query: z.object({ limit: z.string().optional() }) },
  responses: { 200: json(flowListSchema, "Flows, the one that changed last first"), ...refused },
});
const getRoute = createRoute({
  method: "get",
  path: "/api/flows/{id}",
  request: { params },
  responses: { 200: view, ...missing },
});
const moveRoute = <Verb extends string>(verb: Verb) =>
  createRoute({
    method: "post",
    path: `/api/flows/{id}/${verb}` as const,
    request: { params },
    responses: { 200: view, ...badBody, ...missing, ...conflict },
  });

/** "Flows". */
export function addFlowRoutes(app: OpenAPIHono<RouteEnv>, parts: ServiceParts): void {
  const { flows } = parts;
  app.use("/api/flows", requireKey(parts));
  app.use("/api/flows/*", requireKey(parts));
  app.openapi(templatesRoute, (c) => c.json({ templates: [...flows.templates] }, 200));
  app.openapi(startRoute, async (c) => {
    const start = readStart(await readJsonObject(c.req.raw));
    const flow = await flows.start({ principal: c.get("principal"), ...start });
    return c.json({ flowId: flow.flow.id, flow, templates: [...flows.templates] }, 200);
  });
  app.openapi(listRoute, async (c) => {
    const limit = readLimit(c.req.valid("query").limit, { max: FLOW_PAGE.max, byDefault: FLOW_PAGE.default });
    return c.json({ flows: await flows.list(c.get("principal").accountId, limit) }, 200);
  });
  app.openapi(getRoute, async (c) =>
    c.json(await flows.get(c.get("principal").accountId, c.req.valid("param").id), 200),
  );
  addMoveRoutes(app, parts);
}

function addMoveRoutes(app: OpenAPIHono<RouteEnv>, { flows, flowApprovals, baseUrl }: ServiceParts): void {
  app.openapi(moveRoute("approve"), async (c) => {
    const { accountId, apiKeyId } = c.get("principal");
    const { id } = c.req.valid("param");
    const { stepKey } = readApproval(await readJsonObject(c.req.raw));
    if (flowApprovals === "dashboard") {
      await flows.get(accountId, id);
      throw refuseState(`The owner of this service approves flows in the dashboard only: ${baseUrl}`);
    }
    return c.json(await flows.approve(accountId, id, { stepKey, by: `API key ${apiKeyId}` }), 200);
  });
  app.openapi(moveRoute("resume"), async (c) => {
    await readJsonObject(c.req.raw);
    return c.json(await flows.resume(c.get("principal").accountId, c.req.valid("param").id), 200);
  });
  app.openapi(moveRoute("cancel"), async (c) => {
    await readJsonObject(c.req.raw);
    return c.json(await flows.cancel(c.get("principal").accountId, c.req.valid("param").id), 200);
  });
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
