import type { FlowView } from "../../wire/flow.ts";
import { toFailure } from "../ask/abort.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import { cleanText, createOutcome, type OutcomeDetails, type ToolOutcome } from "../outcome.ts";
import type { Pipeline } from "../pipeline.ts";
import { runTool } from "../run.ts";
import type { FlowToolName, StaticCall } from "../static-tools.ts";
import { type OwnSend, proceed, type Step, stop } from "../steps/plan.ts";
import {
  adviseNext,
  describeFlow,
  describeFlowError,
  findCurrentStep,
  findWaitingApproval,
  followFlow,
  isResumable,
  mayHaveActed,
  readApprovalContent,
  readApprovalMessage,
  readOnlyAccount,
  showFlow,
} from "./read-flow.ts";

/** Starts a flow after a human agreed. */
export async function startFlow(
  pipeline: Pipeline,
  call: StaticCall,
  args: { template: string; input?: Record<string, unknown> | undefined; wait_seconds?: number | undefined },
): Promise<ToolOutcome> {
  const tool = "svc_start_flow";
  const { client } = pipeline;
  const { template: key, input = {} } = args;
  return runFlowTool(pipeline, call, {
    tool,
    seconds: args.wait_seconds,
    arguments: { template: key, input },
    async plan() {
      const { templates } = await client.listFlowTemplates({ signal: call.signal });
      const template = templates.find((one) => one.key === key);
      if (template === undefined) {
        const known = templates.map((one) => cleanText(one.key, 80)).join(", ");
        return refuse(tool, {
          code: "template_not_found",
          message: `There is no flow template "${cleanText(key, 80)}". Nothing was run.`,
          hint: `Templates: ${known || "none"}.`,
        });
      }
      return proceed({
        title: `Start the flow "${template.name ?? key}"`,
        description: template.description ?? "",
        reason: "A flow runs by itself on the service and may act on your apps.",
        arguments: { template: key, input },
      });
    },
    async send() {
      const started = await client.startFlow(
        { flowTemplate: key, input, triggerType: "agent" },
        { signal: call.signal },
      );
      return started.flow;
    },
  });
}

/** Continues a waiting flow after a human saw its next steps and agreed. */
export async function approveFlow(
  pipeline: Pipeline,
  call: StaticCall,
  args: { flow_id: string; step?: string | undefined; wait_seconds?: number | undefined },
): Promise<ToolOutcome> {
  const tool = "svc_approve_flow";
  const { client } = pipeline;
  const id = args.flow_id;
  let stepKey = args.step;
  return runFlowTool(pipeline, call, {
    tool,
    seconds: args.wait_seconds,
    arguments: { flow_id: id, step: args.step ?? null },
    async plan() {
      const view = await client.getFlow(id, { signal: call.signal });
      const step = findWaitingApproval(view);
      if (step === undefined || (args.step !== undefined && step.stepKey !== args.step)) {
        return refuseApproval(tool, view, step?.stepKey);
      }
      stepKey = step.stepKey;
      return proceed({
        title: `Let the flow "${view.flow.name ?? view.flow.templateKey ?? id}" go on`,
        description: readApprovalMessage(step) ?? "It waits for your approval before it does what is shown.",
        reason: "The flow stopped here to ask you first.",
        account: readOnlyAccount(step),
        arguments: readApprovalContent(view, step),
      });
    },
    send: () => client.approveFlow(id, { stepKey }, { signal: call.signal }),
  });
}

function refuseApproval(tool: FlowToolName, view: FlowView, waiting: string | undefined): Step<never> {
  return refuse(tool, {
    code: "nothing_to_approve",
    message:
      waiting === undefined
        ? `The flow is ${view.flow.status} and waits for no approval. Nothing was run.`
        : `The flow waits at another step, "${cleanText(waiting, 80)}". Nothing was run.`,
    hint: "Look at the flow with svc_get_flow.",
    result: showFlow(view),
  });
}

export async function resumeFlow(
  pipeline: Pipeline,
  call: StaticCall,
  args: { flow_id: string; wait_seconds?: number | undefined },
): Promise<ToolOutcome> {
  const tool = "svc_resume_flow";
  const { client } = pipeline;
  const id = args.flow_id;
  return runFlowTool(pipeline, call, {
    tool,
    seconds: args.wait_seconds,
    arguments: { flow_id: id },
    async plan() {
      const view = await client.getFlow(id, { signal: call.signal });
      if (!isResumable(view, pipeline.now())) return refuseResume(tool, view);
      const { flow } = view;
      const step = findCurrentStep(view);
      return proceed({
        title: `Go on with the flow "${flow.name ?? flow.templateKey ?? id}"`,
        description: `It is ${flow.status} at the step "${step?.stepKey ?? "?"}" and would go on from there.`,
        reason: "A flow that goes on may act on your apps.",
        arguments: {
          flow: id,
          step: step?.stepKey ?? null,
          step_input: step?.input ?? null,
          error: step?.error ?? null,
        },
      });
    },
    send: () => client.resumeFlow(id, { signal: call.signal }),
  });
}

function refuseResume(tool: FlowToolName, view: FlowView): Step<never> {
  return refuse(tool, {
    code: "flow_conflict",
    message: `The flow is ${cleanText(view.flow.status, 80)}: there is nothing to resume. Nothing was run.`,
    hint: adviseNext(view) ?? "It is over; a new one is started with svc_start_flow.",
    result: showFlow(view),
  });
}

function refuse(tool: FlowToolName, details: OutcomeDetails): Step<never> {
  return stop(createOutcome("failed", tool, { ...details, retryable: false }));
}

interface FlowChange extends Pick<OwnSend, "plan"> {
  readonly tool: FlowToolName;
  readonly seconds: number | undefined;
  /** The caller's arguments; with the call id they identify the call in the journal. */
  readonly arguments: Record<string, unknown>;
  send(): Promise<FlowView>;
}

/** Runs the change through the pipeline, which asks a human, then watches the flow. */
function runFlowTool(pipeline: Pipeline, call: StaticCall, change: FlowChange): Promise<ToolOutcome> {
  const { tool, seconds, arguments: args, plan, send } = change;
  const own: OwnSend = {
    plan,
    async send() {
      const view = await send();
      return { outcome: describeFlow(tool, view), watching: view.flow.id };
    },
    async follow(id) {
      try {
        return await followFlow(pipeline, call, tool, { id, seconds });
      } catch (error) {
        toFailure(error, call.signal);
        return undefined;
      }
    },
    mayHaveActed,
    describeError: describeFlowError,
    howToCheck: "Look at the flow with svc_get_flow, or without its id at the list of flows, before doing it again.",
  };
  const entry: CatalogEntry = {
    name: tool,
    integration: "flows",
    title: tool,
    description: "",
    effect: "write",
    needsConfirmation: true,
    inputSchema: null,
    connections: [],
    askBefore: [],
  };
  return runTool(pipeline, { ...call, toolName: tool, arguments: args }, { entry, send: own });
}
