import { z } from "zod";
import { callLevelSchema } from "./call-level.ts";
import { fileAttachmentSchema } from "./file.ts";
import { previewOfRefusalSchema } from "./preview.ts";

/** Canonical `error_code` values with a documented recovery; other values are tolerated on input. */
export const CANONICAL_ERROR_CODES = [
  "unauthorized",
  "forbidden",
  "integration_not_found",
  "action_not_found",
  "integration_not_connected",
  "reauth_required",
  "validation_error",
  "policy_blocked",
  "rate_limited",
  "timeout",
  "unsupported_operation",
  "execution_failed",
] as const;
export type CanonicalErrorCode = (typeof CANONICAL_ERROR_CODES)[number];

/** `error.code` values of the tool-name endpoint seen in the document; the complete list is not shown. */
export const TOOL_ERROR_CODES = [
  "needs_connection",
  "confirmation_required",
  "tool_not_found",
  "invalid_arguments",
  "missing_file_bytes",
  "media_url_not_a_file",
] as const;
export type ToolErrorCode = (typeof TOOL_ERROR_CODES)[number];

/** `error.type` values seen in the document. */
export const TOOL_ERROR_TYPES = ["validation", "auth", "missing_scopes", "rate_limit", "network"] as const;
export type ToolErrorType = (typeof TOOL_ERROR_TYPES)[number];

/** HTTP statuses of `POST /api/tools/{name}/execute`. */
export const TOOL_EXECUTE_STATUSES = [200, 400, 401, 402, 403, 404, 409, 412, 413, 422, 429, 500, 503] as const;

/** HTTP statuses of `POST /api/executions`. */
export const CANONICAL_EXECUTE_STATUSES = [200, 400, 401, 409, 500] as const;

/** "Execution status (canonical summary)": a `blocked` action never ran. */
export const executionStatusSchema = z.enum(["succeeded", "blocked", "failed"]);
export type ExecutionStatus = z.infer<typeof executionStatusSchema>;

/** Present when the fix is to connect or re-authenticate an app; `input.force_reconnect` for the latter. */
export const recommendedNextActionSchema = z.looseObject({
  tool: z.string(),
  input: z.looseObject({
    integration_id: z.preprocess(dropNull, z.string().optional()).optional(),
    force_reconnect: z.preprocess(dropNull, z.boolean().optional()).optional(),
  }),
});

/** Reads null beside a connect link as absent. */
function dropNull(value: unknown): unknown {
  return value ?? undefined;
}

/** `display` of an "Execution summary (canonical)": the outcome in short, for people. */
export const displaySchema = z.looseObject({ title: z.string(), summary: z.string() });

/** Members of the answer to a call that waits for a human. Ours: not in the document. */
const lookMembers = {
  preview: previewOfRefusalSchema,
  /** True where the present state could not be read. */
  preview_failed: z.boolean().optional().catch(undefined),
  /** `state_changed`: another state had been shown, and nothing was done. An open list. */
  reason: z.string().optional().catch(undefined),
};

/** Id of the action by which an app takes executions back. Ours: not in the document. */
export const UNDO_ACTION = "undo";

/** Full name of that tool of an app, by its slug. */
export function nameUndo(slug: string): string {
  return `${slug}_${UNDO_ACTION}`;
}

/** The call that takes an execution back, for as long as the service keeps what it needs. Ours: not in the document. */
const undoCallSchema = z.looseObject({
  tool_name: z.string(),
  input: z.record(z.string(), z.unknown()),
  connection_id: z.string().optional().catch(undefined),
  /** ISO 8601. */
  until: z.string(),
});
export type UndoCall = z.infer<typeof undoCallSchema>;

/** "Execution summary (canonical)". `execution_id` is null when blocked before running. */
export const executionSummarySchema = z.looseObject({
  execution_id: z.string().nullish(),
  status: z.string(),
  integration_id: z.string().nullish(),
  action_id: z.string().nullish(),
  started_at: z.string().nullish(),
  finished_at: z.string().nullish(),
  output: z.unknown().optional(),
  display: displaySchema.nullish(),
  error_code: z.string().nullish(),
  message: z.string().nullish(),
  hint: z.string().nullish(),
  recommended_next_action: recommendedNextActionSchema.nullish(),
  /** Ours: true when the action started and its effect is unknown. Not in the document. */
  outcome_unknown: z.boolean().nullish().catch(undefined),
  approval: z
    .lazy(() => heldApprovalSchema)
    .optional()
    .catch(undefined),
  call_level: callLevelSchema,
  undo: undoCallSchema.optional().catch(undefined),
  ...lookMembers,
});
export type ExecutionSummary = z.infer<typeof executionSummarySchema>;

/** The upload command as structured data, our addition in a `missing_file_bytes` hint; optional on input. */
export const uploadInstructionSchema = z.looseObject({
  url: z.string(),
  method: z.string(),
  headers: z.record(z.string(), z.string()),
  field: z.string(),
  maxBytes: z.number(),
  expiresAt: z.string(),
});
export type UploadInstruction = z.infer<typeof uploadInstructionSchema>;

/** Reference to an approval that the service holds, in a refusal. Ours: not in the document. */
const heldApprovalSchema = z.looseObject({ id: z.string().min(1), status: z.string(), url: z.string() });
export type HeldApprovalRef = z.infer<typeof heldApprovalSchema>;

/** `error` of an "Execution envelope"; `upload`, `approval` and `call_level` are ours. */
export const toolErrorSchema = z.looseObject({
  code: z.string(),
  type: z.string().nullish(),
  message: z.string(),
  retryable: z.boolean().nullish(),
  upload: uploadInstructionSchema.optional().catch(undefined),
  approval: heldApprovalSchema.optional().catch(undefined),
  call_level: callLevelSchema,
  ...lookMembers,
});
export type ToolError = z.infer<typeof toolErrorSchema>;

/** "Execution envelope (tool-name endpoint, success and failure)". `data` is an alias of `result`. */
export const executionEnvelopeSchema = z.looseObject({
  ok: z.boolean(),
  result: z.unknown().optional(),
  data: z.unknown().optional(),
  toolName: z.string().nullish(),
  integration: z.string().nullish(),
  error: toolErrorSchema.nullish(),
  hint: z.string().nullish(),
  details: z.array(z.string()).nullish().catch(undefined),
  requiresConfirmation: z.boolean().nullish(),
  canonical: executionSummarySchema.partial().loose().nullish(),
  meta: z.looseObject({}).nullish(),
});
export type ExecutionEnvelope = z.infer<typeof executionEnvelopeSchema>;

/** `connectionId`: an integer or a string ("Connection"). */
export const connectionIdSchema = z.union([z.int(), z.string()]);
export type ConnectionId = z.infer<typeof connectionIdSchema>;

/** Request body of `POST /api/tools/{name}/execute`; extra properties are allowed and, without `arguments`, are the arguments. */
export const toolExecuteRequestSchema = z.looseObject({
  arguments: z.record(z.string(), z.unknown()).optional(),
  connectionId: connectionIdSchema.optional(),
  confirmed: z.boolean().optional(),
  /** Ours: the level that whoever confirmed the call was shown; a call that does more is not confirmed. Default: any. */
  confirmed_level: z.string().optional(),
  /** Ours: the `state` of the preview that they were shown; the call runs on no other one. Default: any. */
  preview_state: z.string().optional(),
  files: z.array(fileAttachmentSchema).optional(),
});
export type ToolExecuteRequest = z.infer<typeof toolExecuteRequestSchema>;

/** Request body of `POST /api/executions`. `files` is not accepted there. */
export const canonicalExecuteRequestSchema = z.looseObject({
  integration_id: z.string().min(1),
  action_id: z.string().min(1),
  input: z.record(z.string(), z.unknown()),
  confirm: z.boolean().optional(),
  /** Ours, as in {@link toolExecuteRequestSchema}. */
  confirmed_level: z.string().optional(),
  /** Ours, as in {@link toolExecuteRequestSchema}. */
  preview_state: z.string().optional(),
  idempotency_key: z.string().optional(),
  /** Ours: the account to act on, where the description of the tool says so. Default: the default one. */
  connection_id: connectionIdSchema.optional(),
});
export type CanonicalExecuteRequest = z.infer<typeof canonicalExecuteRequestSchema>;

/** Guard error: a malformed request or failed authentication, before any execution ("Errors", envelope 3). */
export const bareErrorSchema = z.looseObject({ error: z.string() });
export type BareError = z.infer<typeof bareErrorSchema>;
