import type { FlowView } from "../wire/flow.ts";
import type { FlowCall } from "./ask-human.ts";
import { adviseNext } from "./describe-flow.ts";
import { cleanText, createFlowOutcome, type FlowOutcome } from "./flow-outcome.ts";
import type { FlowToolName } from "./flow-tool.ts";
import { type FlowToolParts, followFlow, toOptions } from "./follow-flow.ts";
import {
  findCurrentStep,
  findWaitingApproval,
  isResumable,
  readApprovalContent,
  readApprovalMessage,
  showFlow,
} from "./read-flow.ts";
import { type GatedAction, runGated } from "./run-gated.ts";

/** Starts a flow after a human agreed. */
export async function startFlow(
  parts: FlowToolParts,
  call: FlowCall,
  args: { template: string; input?: Record<string, unknown> | undefined; wait_seconds?: number | undefined },
): Promise<FlowOutcome> {
  const tool = "svc_start_flow";
  const { template: key, input = {} } = args;
  return runThenFollow(parts, call, {
    tool,
    seconds: args.wait_seconds,
    arguments: { template: key, input },
    async prepare() {
      const { templates } = await parts.client.listFlowTemplates(toOptions(call));
      const template = templates.find((one) => one.key === key);
      if (template === undefined)
        return refuseTemplate(
          key,
          templates.map((one) => one.key),
        );
      return {
        tool,
        title: `Start the flow "${template.name ?? key}"`,
        description: template.description ?? "",
        reason: "A flow runs by itself on the service and may act on your apps.",
        arguments: { template: key, input },
      };
    },
    async send() {
      const started = await parts.client.startFlow({ flowTemplate: key, input, triggerType: "agent" }, toOptions(call));
      return started.flow;
    },
  });
}

function refuseTemplate(key: string, keys: readonly string[]): FlowOutcome {
  return createFlowOutcome("failed", "svc_start_flow", {
    code: "template_not_found",
    message: `There is no flow template "${cleanText(key, 80)}". Nothing was started.`,
    hint: `Templates: ${keys.map((one) => cleanText(one, 80)).join(", ") || "none"}.`,
    retryable: false,
  });
}

/** Lets a waiting flow go on after a human saw what it is about to do. */
export async function approveFlow(
  parts: FlowToolParts,
  call: FlowCall,
  args: { flow_id: string; step?: string | undefined; wait_seconds?: number | undefined },
): Promise<FlowOutcome> {
  const tool = "svc_approve_flow";
  const id = args.flow_id;
  let stepKey = args.step;
  return runThenFollow(parts, call, {
    tool,
    seconds: args.wait_seconds,
    arguments: { flow_id: id, step: args.step ?? null },
    async prepare() {
      const view = await parts.client.getFlow(id, toOptions(call));
      const step = findWaitingApproval(view);
      if (step === undefined || (args.step !== undefined && step.stepKey !== args.step)) {
        return refuseApproval(tool, view, step?.stepKey);
      }
      stepKey = step.stepKey;
      return {
        tool,
        title: `Let the flow "${view.flow.name ?? view.flow.templateKey ?? id}" go on`,
        description: readApprovalMessage(step) ?? "It waits for your approval before it does what is shown.",
        reason: "The flow stopped here to ask you first.",
        arguments: readApprovalContent(view, step),
      };
    },
    send: () => parts.client.approveFlow(id, stepKey === undefined ? {} : { stepKey }, toOptions(call)),
  });
}

function refuseApproval(tool: string, view: FlowView, waiting: string | undefined): FlowOutcome {
  return createFlowOutcome("failed", tool, {
    code: "nothing_to_approve",
    message:
      waiting === undefined
        ? `The flow is ${view.flow.status} and waits for no approval. Nothing was done.`
        : `The flow waits at another step, "${cleanText(waiting, 80)}". Nothing was done.`,
    hint: "Look at the flow with svc_get_flow.",
    result: showFlow(view),
    retryable: false,
  });
}

/** Tries a failed flow again after a human agreed. */
export async function resumeFlow(
  parts: FlowToolParts,
  call: FlowCall,
  args: { flow_id: string; wait_seconds?: number | undefined },
): Promise<FlowOutcome> {
  const tool = "svc_resume_flow";
  const id = args.flow_id;
  return runThenFollow(parts, call, {
    tool,
    seconds: args.wait_seconds,
    arguments: { flow_id: id },
    async prepare() {
      const view = await parts.client.getFlow(id, toOptions(call));
      if (!isResumable(view, parts.now())) return refuseResume(tool, view);
      const { flow } = view;
      const step = findCurrentStep(view);
      return {
        tool,
        title: `Go on with the flow "${flow.name ?? flow.templateKey ?? id}"`,
        description: `It is ${flow.status} at the step "${step?.stepKey ?? "?"}" and would go on from there.`,
        reason: "A flow that goes on may act on your apps.",
        arguments: {
          flow: id,
          step: step?.stepKey ?? null,
          step_input: step?.input ?? null,
          error: step?.error ?? null,
        },
      };
    },
    send: () => parts.client.resumeFlow(id, toOptions(call)),
  });
}

function refuseResume(tool: string, view: FlowView): FlowOutcome {
  return createFlowOutcome("failed", tool, {
    code: "flow_conflict",
    message: `The flow is ${cleanText(view.flow.status, 80)}: there is nothing to resume. Nothing was done.`,
    hint: adviseNext(view) ?? "It is over; a new one is started with svc_start_flow.",
    result: showFlow(view),
    retryable: false,
  });
}

interface FlowChange extends Omit<GatedAction, "follow"> {
  readonly tool: FlowToolName;
  /** How long the flow is watched afterwards. */
  readonly seconds: number | undefined;
}

/** Does it after a human said yes, and watches the flow then. */
function runThenFollow(parts: FlowToolParts, call: FlowCall, change: FlowChange): Promise<FlowOutcome> {
  const gate = { ...parts, principal: parts.client.principal };
  const { tool, seconds, ...action } = change;
  return runGated(gate, call, tool, {
    ...action,
    follow: (from) => followFlow(parts, call, tool, { ...from, seconds }),
  });
}
