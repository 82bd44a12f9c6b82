import { z } from "zod";
import { previewSchema } from "./preview.ts";
import { readableItems } from "./tool.ts";

/** "Flow status". The last three are ends, but a `failed` flow can be resumed. */
export const FLOW_STATUSES = ["pending", "running", "waiting", "completed", "failed", "cancelled"] as const;
export type FlowStatus = (typeof FLOW_STATUSES)[number];

/** Values of `triggerType` ("Flow"). */
export const FLOW_TRIGGER_TYPES = ["agent", "manual", "webhook", "schedule"] as const;
export type FlowTriggerType = (typeof FLOW_TRIGGER_TYPES)[number];

/** Ours: what else starts a flow. The document has no type for it, and the flow shows `schedule`. */
export type FlowEventType = "mail" | "file";

/** Values of `stepType` ("Flow step"). */
export const FLOW_STEP_TYPES = ["tool_call", "transform", "wait", "approval"] as const;
export type FlowStepType = (typeof FLOW_STEP_TYPES)[number];

/** Step statuses are not shown in the document; these are ours, others are tolerated on input. */
export const FLOW_STEP_STATUSES = ["pending", "running", "waiting", "completed", "failed", "skipped"] as const;
export type FlowStepStatus = (typeof FLOW_STEP_STATUSES)[number];

/** Ours: what a flow waits for, for people. `about` names what it is about, e.g. titles of pages; `since` is a time. */
const flowWaitSchema = z.looseObject({ message: z.string(), about: z.string(), since: z.string() });
export type FlowWait = z.infer<typeof flowWaitSchema>;

/** "Flow". `startedBy`, the device, person or trigger, `startedOn`, e.g. `mail`, and `waitingFor` are ours. */
export const flowSchema = z.looseObject({
  id: z.union([z.string(), z.int()]).transform(String),
  name: z.string().nullish(),
  templateKey: z.string().nullish(),
  status: z.string(),
  triggerType: z.string().nullish(),
  input: z.record(z.string(), z.unknown()).nullish(),
  context: z.record(z.string(), z.unknown()).nullish(),
  currentStep: z.string().nullish(),
  createdAt: z.string().nullish(),
  updatedAt: z.string().nullish(),
  completedAt: z.string().nullish(),
  startedBy: z.string().nullish().catch(undefined),
  startedOn: z.string().optional().catch(undefined),
  waitingFor: flowWaitSchema.optional().catch(undefined),
});
export type Flow = z.infer<typeof flowSchema>;

/**
 * Ours: one call that an approval would let a flow make. It has either a `preview`, which says what it would do to what was there
 * when the flow began to wait, or `missing`, which says as a sentence why there is none; its `code` is one of an open list:
 * `not_readable refused depends_on_step not_known too_large too_many`.
 */
export const flowPreviewSchema = z.looseObject({
  /** The step that makes the call; its tool, and its name within the step. */
  stepKey: z.string(),
  toolName: z.string().optional().catch(undefined),
  key: z.string().optional().catch(undefined),
  /** Name for people, such as `the page "Plan"`. */
  label: z.string().optional().catch(undefined),
  /** Position of what it is made of among the `items` of the step: where that is left out, so is the call. */
  item: z.int().min(0).optional().catch(undefined),
  preview: previewSchema.optional().catch(undefined),
  missing: z.looseObject({ code: z.string(), text: z.string() }).optional().catch(undefined),
});
export type FlowPreview = z.infer<typeof flowPreviewSchema>;

/**
 * "Flow step". The names of its timestamps are not shown; `startedAt` and `completedAt` are ours. So is `items`: the member
 * of a waiting approval's output whose entries may be left out; and `previews`: what the calls up to the next approval would do,
 * for a waiting approval, at most 64 kB of JSON. An approved call runs only while the `state` of its preview is the present one.
 */
export const flowStepSchema = z.looseObject({
  stepKey: z.string(),
  stepIndex: z.int(),
  stepType: z.string(),
  status: z.string(),
  input: z.unknown().optional(),
  output: z.unknown().optional(),
  error: z.unknown().optional(),
  attemptCount: z.int().optional(),
  startedAt: z.string().nullish(),
  completedAt: z.string().nullish(),
  items: z.string().optional().catch(undefined),
  previews: readableItems(flowPreviewSchema).optional().catch(undefined),
});
export type FlowStep = z.infer<typeof flowStepSchema>;

/** A flow view, the answer of get, approve, resume and cancel. */
export const flowViewSchema = z.looseObject({ flow: flowSchema, steps: z.array(flowStepSchema) });
export type FlowView = z.infer<typeof flowViewSchema>;

/** "Flow template". `inputSchema`, JSON Schema of its inputs, is ours. */
export const flowTemplateSchema = z.looseObject({
  key: z.string(),
  name: z.string().optional(),
  description: z.string().optional(),
  inputSchema: z.record(z.string(), z.unknown()).optional().catch(undefined),
});
export type FlowTemplate = z.infer<typeof flowTemplateSchema>;

/** Answer of `GET /api/flows/templates`. */
export const flowTemplatesSchema = z.looseObject({ templates: readableItems(flowTemplateSchema) });
export type FlowTemplates = z.infer<typeof flowTemplatesSchema>;

/** Body of `POST /api/flows/start`. */
export const flowStartRequestSchema = z.looseObject({
  flowTemplate: z.string().min(1),
  input: z.record(z.string(), z.unknown()).optional(),
  triggerType: z.enum(FLOW_TRIGGER_TYPES).optional(),
});
export type FlowStartRequest = z.infer<typeof flowStartRequestSchema>;

/** Answer of `POST /api/flows/start`. */
export const flowStartReplySchema = z.looseObject({
  flowId: z.union([z.string(), z.int()]).transform(String),
  flow: flowViewSchema,
  templates: z.array(flowTemplateSchema).optional(),
});
export type FlowStartReply = z.infer<typeof flowStartReplySchema>;

/** Answer of `GET /api/flows`, most recent first. */
export const flowListSchema = z.looseObject({ flows: readableItems(flowSchema) });
export type FlowList = z.infer<typeof flowListSchema>;

/** Body of `POST /api/flows/{id}/approve`; default is the current waiting step. */
export const flowApproveRequestSchema = z.looseObject({ stepKey: z.string().optional() });
export type FlowApproveRequest = z.infer<typeof flowApproveRequestSchema>;
