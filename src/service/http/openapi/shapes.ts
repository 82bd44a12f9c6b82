import { z } from "zod";
import {
  APPROVAL_STATUSES,
  approvalListSchema,
  approvalReplySchema,
  approvalSchema,
} from "../../../shared/wire/approval.ts";
import {
  actionDetailSchema,
  actionItemSchema,
  actionListSchema,
  catalogSearchItemSchema,
  catalogSearchSchema,
  integrationItemSchema,
  integrationPageSchema,
  sideEffectLevelSchema,
} from "../../../shared/wire/catalog.ts";
import {
  CANONICAL_ERROR_CODES,
  displaySchema,
  executionEnvelopeSchema,
  executionSummarySchema,
  toolErrorSchema,
} from "../../../shared/wire/execution.ts";
import { ingestReplySchema } from "../../../shared/wire/file.ts";
import {
  FLOW_STATUSES,
  FLOW_STEP_STATUSES,
  FLOW_STEP_TYPES,
  FLOW_TRIGGER_TYPES,
  flowListSchema,
  flowSchema,
  flowStartReplySchema,
  flowStepSchema,
  flowTemplateSchema,
  flowTemplatesSchema,
  flowViewSchema,
} from "../../../shared/wire/flow.ts";
import { identityReplySchema } from "../../../shared/wire/identity.ts";
import { previewReplySchema } from "../../../shared/wire/preview.ts";
import {
  BOOTSTRAP_STATUSES,
  bootstrapPollReplySchema,
  bootstrapStartReplySchema,
  PAIR_STATUSES,
  pairExchangeReplySchema,
  pairStartReplySchema,
} from "../../../shared/wire/registration.ts";
import { toolListSchema, toolSchema, toolSearchSchema } from "../../../shared/wire/tool.ts";
import { PROBLEM_CODES } from "../../health/health.ts";
import { RESULT_OFFLOAD } from "../render-outcome.ts";

/*
 * The promises of this service. The shapes in `wire/` describe everything a client accepts, so most of their members may be
 * missing; an answer that leaves one of these out is off the document.
 */

function need<Shape extends z.core.$ZodLooseShape>(
  schema: z.ZodObject<Shape, z.core.$loose>,
  ...names: (keyof Shape & string)[]
) {
  return schema.required(Object.fromEntries(names.map((name) => [name, true])) as Record<string, never>);
}

const tool = need(toolSchema, "integration", "name", "description", "inputSchema");
const toolList = need(toolListSchema, "count", "total", "truncated", "integration").extend({ tools: z.array(tool) });
const toolSearch = need(toolSearchSchema, "count", "query", "integration").extend({ tools: z.array(tool) });
const toolDescription = z.looseObject({
  tool: need(tool, "canonical").extend({ name: z.string(), inputSchema: z.looseObject({}) }),
});

const summaryHead = need(executionSummarySchema, "integration_id", "action_id").extend({
  started_at: z.string(),
  finished_at: z.string(),
  display: displaySchema,
});
const refusal = {
  error_code: z.enum(CANONICAL_ERROR_CODES),
  message: z.string(),
  details: z.array(z.string()).optional(),
};
const succeededSummary = summaryHead.extend({
  status: z.literal("succeeded"),
  execution_id: z.string(),
  output: z.unknown(),
});
const blockedSummary = summaryHead.extend({ ...refusal, status: z.literal("blocked"), execution_id: z.null() });
const failedSummary = summaryHead.extend({ ...refusal, status: z.literal("failed"), execution_id: z.string() });
const runningSummary = summaryHead.extend({
  status: z.literal("running"),
  execution_id: z.string(),
  finished_at: z.null(),
});

/** Stands in place of an output above 64 kB for callers that ask for it. */
const storedResult = z.object({
  svc_result: z.literal("stored"),
  execution_id: z.string(),
  bytes: z.int().describe("Size of the output as JSON."),
  preview: z.string().describe("The beginning of that JSON."),
});

const envelopeHead = need(executionEnvelopeSchema, "toolName", "integration", "requiresConfirmation", "meta");
const succeededEnvelope = envelopeHead.extend({
  ok: z.literal(true),
  result: z.unknown(),
  data: z.unknown(),
  canonical: succeededSummary,
});
const failedEnvelope = envelopeHead.extend({
  ok: z.literal(false),
  error: need(toolErrorSchema, "type", "retryable"),
  canonical: z.union([blockedSummary, failedSummary]),
});

const approval = approvalSchema.extend({
  status: z.enum(APPROVAL_STATUSES),
  requestedAt: z.string(),
  expiresAt: z.string(),
});

const integrationItem = need(integrationItemSchema, "name", "connected", "connection_state", "capabilities");
const integrationPage = need(integrationPageSchema, "page", "page_size", "total").extend({
  items: z.array(integrationItem),
});
const actionItem = need(actionItemSchema, "title", "description").extend({ side_effect_level: sideEffectLevelSchema });
const actionList = actionListSchema.extend({ items: z.array(actionItem) });
const actionDetail = need(
  actionDetailSchema,
  "title",
  "description",
  "input_schema",
  "input_summary",
  "requires_confirmation",
  "examples",
  "preconditions",
).extend({ side_effect_level: sideEffectLevelSchema, input_schema: z.looseObject({}) });
const catalogSearch = catalogSearchSchema.extend({
  items: z.array(
    need(catalogSearchItemSchema, "action_id", "title", "summary", "connected", "connection_state").extend({
      kind: z.enum(["action", "integration"]),
    }),
  ),
});

const flow = need(flowSchema, "name", "templateKey", "input", "context", "createdAt", "updatedAt").extend({
  id: z.string(),
  status: z.enum(FLOW_STATUSES),
  triggerType: z.enum(FLOW_TRIGGER_TYPES),
});
const flowView = flowViewSchema.extend({
  flow,
  steps: z.array(
    need(flowStepSchema, "attemptCount").extend({
      stepType: z.enum(FLOW_STEP_TYPES),
      status: z.enum(FLOW_STEP_STATUSES),
    }),
  ),
});
const flowTemplate = need(flowTemplateSchema, "name", "description");

const pairStatus = z.enum(PAIR_STATUSES);
const bootstrapStatus = z.enum(BOOTSTRAP_STATUSES);

/** Shapes by the name they have in the document. */
export const shapes = {
  Tool: tool,
  ToolList: toolList,
  ToolSearch: toolSearch,
  ToolDescription: toolDescription,
  SucceededSummary: succeededSummary,
  BlockedSummary: blockedSummary,
  FailedSummary: failedSummary,
  RunningSummary: runningSummary,
  StoredResult: storedResult,
  SucceededEnvelope: succeededEnvelope,
  FailedEnvelope: failedEnvelope,
  IntegrationItem: integrationItem,
  IntegrationPage: integrationPage,
  ActionItem: actionItem,
  ActionList: actionList,
  ActionDetail: actionDetail,
  CatalogSearch: catalogSearch,
  IngestReceipt: ingestReplySchema.required({ name: true, mimetype: true, size: true, md5: true }),
  Health: z.looseObject({
    ok: z.literal(false),
    version: z.string().optional(),
    error: z.string(),
    problems: z.array(z.looseObject({ code: z.enum(PROBLEM_CODES), message: z.string() })).min(1),
  }),
  ApprovalReply: approvalReplySchema.extend({ approval }),
  PreviewReply: previewReplySchema,
  ApprovalList: approvalListSchema.extend({ approvals: z.array(approval) }),
  Flow: flow,
  FlowView: flowView,
  FlowTemplates: flowTemplatesSchema.extend({ templates: z.array(flowTemplate) }),
  FlowStarted: flowStartReplySchema.extend({ flowId: z.string(), flow: flowView, templates: z.array(flowTemplate) }),
  FlowList: flowListSchema.extend({ flows: z.array(flow) }),
  PairStarted: need(pairStartReplySchema, "displayCode", "status", "pollIntervalMs"),
  PairStatus: z.looseObject({ status: pairStatus, displayCode: z.string(), expiresAt: z.string() }),
  Identity: identityReplySchema,
  PairExchanged: need(pairExchangeReplySchema, "session"),
  BootstrapStarted: need(bootstrapStartReplySchema, "poll_interval_ms", "display").extend({ status: bootstrapStatus }),
  BootstrapPolled: need(bootstrapPollReplySchema, "session_id", "expires_at", "poll_interval_ms").extend({
    status: bootstrapStatus,
  }),
} as const;

/** The opt-in to {@link shapes.StoredResult}. */
export const resultHeaderSchema = z.enum([RESULT_OFFLOAD]);
