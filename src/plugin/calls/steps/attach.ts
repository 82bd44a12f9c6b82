import type { SvcError } from "../../../shared/errors.ts";
import { fillFileArguments } from "../../media/send/inspect-files.ts";
import { createFilesBody, type OnBytes } from "../../media/send/send-files.ts";
import { cleanText, createOutcome, type ToolOutcome } from "../outcome.ts";
import type { UploadMode } from "../pipeline.ts";
import { type CallContext, type CallPlan, nameConfirmedLevel } from "./plan.ts";

/** Step 7. Builds the request body. Files are opened and read while they are sent, and must match the approval. */
export function attach(context: Pick<CallContext, "roots" | "emit" | "call">, plan: CallPlan, confirmed: boolean) {
  const level = nameConfirmedLevel(plan);
  const request = {
    arguments: plan.arguments,
    ...(plan.connectionId === undefined ? {} : { connectionId: plan.connectionId }),
    ...(confirmed ? { confirmed } : {}),
    ...(confirmed && level !== undefined ? { confirmed_level: level } : {}),
    ...(confirmed && plan.look?.preview !== undefined ? { preview_state: plan.look.preview.state } : {}),
  };
  if (plan.files.length === 0) return request;
  if (plan.upload === "envelope")
    return createFilesBody(request, plan.files, context.roots, reportUpload(context, plan, "envelope"));
  // Uploaded files are sent as their storage key, others as their own reference, so that the service can ask for them.
  // Field paths cannot identify files: a field "a.b" and the field b of an object a look the same.
  const files = plan.files.map((file) => ({ ...file, pointer: plan.uploaded.get(file.reference) ?? file.reference }));
  return { ...request, arguments: fillFileArguments(plan.arguments, files) };
}

/** Reports how much of a file was sent. */
export function reportUpload(
  { emit, call }: Pick<CallContext, "emit" | "call">,
  { entry }: CallPlan,
  way: UploadMode,
): OnBytes {
  const base = { type: "uploading" as const, callId: call.callId, toolName: entry.name, way };
  return ({ field, size }, sentBytes) => emit({ ...base, field, sentBytes, totalBytes: size });
}

/** The outcome for a file that no longer matches the approval. */
export function describeChangedFile(plan: CallPlan, error: SvcError): ToolOutcome {
  const told = {
    code: error.serviceCode ?? error.code,
    message: `${cleanText(error.message)} The request was not completed, so nothing was run.`,
    hint:
      plan.approved === undefined
        ? cleanText(error.hint ?? "Check the file and make the call again.")
        : "The approval was for the file as it was. Make the call again, so that the user sees the file as it is now.",
    retryable: true,
  };
  return createOutcome("failed", plan.entry.name, told, plan.notes);
}
