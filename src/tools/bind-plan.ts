import { createFingerprint, type FingerprintSubject } from "../approvals/fingerprint.ts";
import type { ApprovalFile } from "../approvals/request.ts";
import type { InspectedFile } from "../media/inspect-files.ts";
import type { CallPlan, Pipeline } from "./pipeline.ts";

/** Fingerprint of a plan as it would be sent now: tool and effect, arguments, account, file digests and principal. */
export function fingerprintPlan(pipeline: Pipeline, plan: CallPlan): string {
  return createFingerprint({ ...describeRequest(pipeline, plan), effect: plan.entry.effect });
}

/** Fingerprint of what a plan sends. Unlike the one of a decision it stays the same when the tool changes its effect. */
export function fingerprintRequest(pipeline: Pipeline, plan: CallPlan): string {
  return createFingerprint(describeRequest(pipeline, plan));
}

function describeRequest(pipeline: Pipeline, plan: CallPlan): FingerprintSubject {
  return {
    tool: plan.entry.name,
    arguments: plan.arguments,
    connection: plan.connectionId,
    files: plan.files,
    principal: pipeline.client.principal,
  };
}

/** True when somebody said yes to exactly this plan: any change since makes it false. */
export function isApproved(pipeline: Pipeline, plan: CallPlan): boolean {
  return plan.approved !== undefined && plan.approved === fingerprintPlan(pipeline, plan);
}

/** The file as an approval names it. */
export function toApprovalFile({ field, name, mimetype, size, md5, sha256, reference }: InspectedFile): ApprovalFile {
  return { field, name, mimetype, size, md5, sha256, reference };
}
