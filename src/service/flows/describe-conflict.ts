import { ServiceError } from "../service-error.ts";
import type { FlowRow, FlowStepRow } from "../store/schema.ts";

/** A 409, bare: the flow is not in a state that allows what was asked. */
export function refuseState(message: string): ServiceError {
  return new ServiceError(409, "flow_conflict", message, { bare: true });
}

/** What a flow is doing, and what can be done about it. */
export function describeState({ status }: FlowRow, step: FlowStepRow | undefined): string {
  switch (status) {
    case "pending":
    case "running":
      return "The flow is running.";
    case "waiting":
      return step?.step_type === "wait"
        ? `The flow waits at "${step.step_key}" until ${readUntil(step)}.`
        : `The flow waits for an approval of "${step?.step_key}".`;
    case "failed":
      return `The flow failed at "${step?.step_key}": resume it to try again, or cancel it.`;
    default:
      return `The flow is ${status}.`;
  }
}

function readUntil(step: FlowStepRow): string {
  const output = JSON.parse(step.output ?? "{}") as { waitUntil?: string };
  return output.waitUntil ?? "its time";
}
