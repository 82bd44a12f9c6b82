import { z } from "zod";
import {
  actionDetailSchema,
  actionItemSchema,
  actionListSchema,
  catalogSearchItemSchema,
  catalogSearchSchema,
  integrationItemSchema,
  integrationPageSchema,
  sideEffectLevelSchema,
} from "../../../wire/catalog.ts";
import {
  CANONICAL_ERROR_CODES,
  displaySchema,
  executionEnvelopeSchema,
  executionSummarySchema,
  toolErrorSchema,
} from "../../../wire/execution.ts";
import { ingestReplySchema } from "../../../wire/file.ts";
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
} from "../../../wire/flow.ts";
import {
  BOOTSTRAP_STATUSES,
  bootstrapPollReplySchema,
  bootstrapStartReplySchema,
  PAIR_STATUSES,
  pairExchangeReplySchema,
  pairStartReplySchema,
} from "../../../wire/registration.ts";
import { toolListSchema, toolSchema, toolSearchSchema } from "../../../wire/tool.ts";
import { PROBLEM_CODES } from "../../health/health.ts";
import { RESULT_OFFLOAD } from "../render-outcome.ts";

/*
 * The promises of this service. The shapes in `wire/` describe everything a client accepts, so most of their members may be
 * missing; an answer that leaves one of these out is off the document.
 */

const tool = toolSchema.required({ integration: true, name: true, description: true, inputSchema: true });
const toolList = toolListSchema
  .required({ count: true, total: true, truncated: true, integration: true })
  .extend({ tools: z.array(tool) });
const toolSearch = toolSearchSchema
  .required({ count: true, query: true, integration: true })
  .extend({ tools: z.array(tool) });
const toolDescription = z.looseObject({
  tool: tool.required({ canonical: true }).extend({ name: z.string(), inputSchema: z.looseObject({}) }),
});

const summaryHead = executionSummarySchema
  .required({ integration_id: true, action_id: true })
  .extend({ started_at: z.string(), finished_at: z.string(), display: displaySchema });
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

const envelopeHead = executionEnvelopeSchema.required({
  toolName: true,
  integration: true,
  requiresConfirmation: true,
  meta: true,
});
const succeededEnvelope = envelopeHead.extend({
  ok: z.literal(true),
  result: z.unknown(),
  data: z.unknown(),
  canonical: succeededSummary,
});
const failedEnvelope = envelopeHead.extend({
  ok: z.literal(false),
  error: toolErrorSchema.required({ type: true, retryable: true }),
  canonical: z.union([blockedSummary, failedSummary]),
});

const integrationItem = integrationItemSchema.required({
  name: true,
  connected: true,
  connection_state: true,
  capabilities: true,
});
const integrationPage = integrationPageSchema
  .required({ page: true, page_size: true, total: true })
  .extend({ items: z.array(integrationItem) });
const actionItem = actionItemSchema
  .required({ title: true, description: true })
  .extend({ side_effect_level: sideEffectLevelSchema });
const actionList = actionListSchema.extend({ items: z.array(actionItem) });
const actionDetail = actionDetailSchema
  .required({
    title: true,
    description: true,
    input_schema: true,
    input_summary: true,
    requires_confirmation: true,
    examples: true,
    preconditions: true,
  })
  .extend({ side_effect_level: sideEffectLevelSchema, input_schema: z.looseObject({}) });
const catalogSearch = catalogSearchSchema.extend({
  items: z.array(
    catalogSearchItemSchema
      .required({ action_id: true, title: true, summary: true, connected: true, connection_state: true })
      .extend({ kind: z.enum(["action", "integration"]) }),
  ),
});

const flow = flowSchema
  .required({ name: true, templateKey: true, input: true, context: true, createdAt: true, updatedAt: true })
  .extend({ id: z.string(), status: z.enum(FLOW_STATUSES), triggerType: z.enum(FLOW_TRIGGER_TYPES) });
const flowView = flowViewSchema.extend({
  flow,
  steps: z.array(
    flowStepSchema
      .required({ attemptCount: true })
      .extend({ stepType: z.enum(FLOW_STEP_TYPES), status: z.enum(FLOW_STEP_STATUSES) }),
  ),
});
const flowTemplate = flowTemplateSchema.required({ name: true, description: true });

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
    error: z.string(),
    problems: z.array(z.looseObject({ code: z.enum(PROBLEM_CODES), message: z.string() })).min(1),
  }),
  Flow: flow,
  FlowView: flowView,
  FlowTemplates: flowTemplatesSchema.extend({ templates: z.array(flowTemplate) }),
  FlowStarted: flowStartReplySchema.extend({ flowId: z.string(), flow: flowView, templates: z.array(flowTemplate) }),
  FlowList: flowListSchema.extend({ flows: z.array(flow) }),
  PairStarted: pairStartReplySchema.required({ displayCode: true, status: true, pollIntervalMs: true }),
  PairStatus: z.looseObject({ status: pairStatus, displayCode: z.string(), expiresAt: z.string() }),
  PairExchanged: pairExchangeReplySchema.required({ session: true }),
  BootstrapStarted: bootstrapStartReplySchema
    .required({ poll_interval_ms: true, display: true })
    .extend({ status: bootstrapStatus }),
  BootstrapPolled: bootstrapPollReplySchema
    .required({ session_id: true, expires_at: true, poll_interval_ms: true })
    .extend({ status: bootstrapStatus }),
} as const;

/** The opt-in to {@link shapes.StoredResult}. */
export const resultHeaderSchema = z.enum([RESULT_OFFLOAD]);
