import type { SvcError } from "../../errors.ts";
import { fillFileArguments } from "../../media/send/inspect-files.ts";
import { createFilesBody } from "../../media/send/send-files.ts";
import { cleanText, createOutcome, type ToolOutcome } from "../outcome.ts";
import { type CallContext, type CallPlan, isApproved } from "./plan.ts";

/** Step 7. The body of the request. Files are opened and read as they are sent, and must be as they were approved. */
export function attach(context: Pick<CallContext, "client" | "roots">, plan: CallPlan) {
  const request = {
    arguments: plan.arguments,
    ...(plan.connectionId === undefined ? {} : { connectionId: plan.connectionId }),
    ...(isApproved(context, plan) ? { confirmed: true } : {}),
  };
  if (plan.files.length === 0) return request;
  if (plan.upload === "envelope") return createFilesBody(request, plan.files, context.roots);
  // Uploaded files go by their storage key; one that is not uploaded yet by its own reference, to be asked for. Fields
  // tell no files apart: one named "a.b" and the b of an a read the same.
  const files = plan.files.map((file) => ({ ...file, pointer: plan.uploaded.get(file.reference) ?? file.reference }));
  return { ...request, arguments: fillFileArguments(plan.arguments, files) };
}

/** The outcome when a file could not be attached as it was approved. */
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
