import { z } from "zod";
import type { FlowView } from "../../../shared/wire/flow.ts";
import { openArguments } from "../../../shared/wire/tool.ts";
import { toFailure } from "../ask/abort.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import { cleanText, createOutcome, type OutcomeDetails, type ToolOutcome } from "../outcome.ts";
import type { Pipeline } from "../pipeline.ts";
import { runTool } from "../run.ts";
import { createTool, type FlowToolName, type StaticCall, type StaticTool, showOwnTool } from "../static-tools.ts";
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
  showValue,
} from "./read-flow.ts";

const MAX_WATCH_SECONDS = 300;
const LISTED = 20;

const flowId = z.string().min(1).describe("Id of the flow, as starting it gave.");
const waitSeconds = z
  .number()
  .min(0)
  .max(MAX_WATCH_SECONDS)
  .optional()
  .describe("Seconds to wait until it ends or needs the user. Default 20.");
const noneSchema = z.object({});
const startSchema = z.object({
  template: z.string().min(1).describe("Key of the template, from svc_list_flow_templates."),
  input: openArguments.optional().describe("Inputs of the template."),
  wait_seconds: waitSeconds,
});
const getSchema = z.object({
  flow_id: flowId.optional().describe("Id of the flow. Left out: the latest flows are listed."),
  wait_seconds: waitSeconds,
});
const approveSchema = z.object({
  flow_id: flowId,
  step: z.string().min(1).optional().describe("Step that waits. Default: the one the flow is at."),
  wait_seconds: waitSeconds,
});
const resumeSchema = z.object({ flow_id: flowId, wait_seconds: waitSeconds });
const cancelSchema = z.object({ flow_id: flowId });

/** Creates the flow tools. Starting, approving and resuming are put before a human first. */
export function createFlowTools(pipeline: Pipeline): StaticTool[] {
  const create: typeof createTool = (name, text, schema, run) => createTool(name, text, schema, run, describeFlowError);
  return [
    create("svc_list_flow_templates", LIST_TEXT, noneSchema, (_args, call) => listTemplates(pipeline, call)),
    create("svc_start_flow", START_TEXT, startSchema, (args, call) => startFlow(pipeline, call, args)),
    create("svc_get_flow", GET_TEXT, getSchema, (args, call) => getFlow(pipeline, call, args)),
    create("svc_approve_flow", APPROVE_TEXT, approveSchema, (args, call) => approveFlow(pipeline, call, args)),
    create("svc_resume_flow", RESUME_TEXT, resumeSchema, (args, call) => resumeFlow(pipeline, call, args)),
    create("svc_cancel_flow", CANCEL_TEXT, cancelSchema, async (args, call) => {
      const view = await pipeline.client.cancelFlow(args.flow_id, { signal: call.signal });
      return createOutcome("succeeded", "svc_cancel_flow", { result: showFlow(view) });
    }),
  ].map((tool) => showOwnTool(tool, pipeline.settings.profile));
}

const LIST_TEXT = "Lists the flows that can be started: multi-step jobs the service runs by itself.";
const START_TEXT =
  "Starts a flow from a template, after the user agreed, and waits a while for it. Steps that change something wait for the user again.";
const GET_TEXT = "Shows a flow and its steps, waiting a while for it to go on. Without an id: the latest flows.";
const APPROVE_TEXT =
  "Asks the user to let a waiting flow go on; they see what it is about to do. Only the user can approve.";
const RESUME_TEXT = "Tries a failed flow again from the step that failed, after the user agreed.";
const CANCEL_TEXT = "Ends a flow for good. What it did stays done.";

async function listTemplates(pipeline: Pipeline, call: StaticCall): Promise<ToolOutcome> {
  const { templates } = await pipeline.client.listFlowTemplates({ signal: call.signal });
  const shown = templates.map(({ key, name, description, inputSchema }) => ({
    key,
    name: cleanText(name ?? key, 120),
    description: cleanText(description ?? "", 600),
    ...(inputSchema && { inputs: showValue(inputSchema) }),
  }));
  return createOutcome("succeeded", "svc_list_flow_templates", { result: { templates: shown } });
}

async function getFlow(pipeline: Pipeline, call: StaticCall, args: z.output<typeof getSchema>): Promise<ToolOutcome> {
  const id = args.flow_id;
  if (id !== undefined) return followFlow(pipeline, call, "svc_get_flow", { id, seconds: args.wait_seconds });
  const { flows } = await pipeline.client.listFlows({ limit: LISTED }, { signal: call.signal });
  const shown = flows.map(({ id: flow_id, templateKey, name, status, createdAt, waitingFor }) => ({
    flow_id,
    name: name ?? templateKey ?? null,
    status,
    created_at: createdAt ?? null,
    ...(waitingFor && { waiting_for: cleanText(`${waitingFor.message} ${waitingFor.about}`, 400) }),
  }));
  return createOutcome("succeeded", "svc_get_flow", { result: { flows: shown } });
}

function startFlow(pipeline: Pipeline, call: StaticCall, args: z.output<typeof startSchema>): Promise<ToolOutcome> {
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
      const body = { flowTemplate: key, input, triggerType: "agent" } as const;
      return (await client.startFlow(body, { signal: call.signal })).flow;
    },
  });
}

/** Continues a waiting flow after a human saw its next steps and agreed. */
function approveFlow(pipeline: Pipeline, call: StaticCall, args: z.output<typeof approveSchema>): Promise<ToolOutcome> {
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
        const message =
          step === undefined
            ? `The flow is ${view.flow.status} and waits for no approval. Nothing was run.`
            : `The flow waits at another step, "${cleanText(step.stepKey, 80)}". Nothing was run.`;
        const hint = "Look at the flow with svc_get_flow.";
        return refuse(tool, { code: "nothing_to_approve", message, hint, result: showFlow(view) });
      }
      stepKey = step.stepKey;
      return proceed({
        title: `Let the flow "${view.flow.name ?? view.flow.templateKey ?? id}" go on`,
        description: readApprovalMessage(step) ?? "It waits for your approval before it does what is shown.",
        reason: "The flow stopped here to ask you first.",
        account: readOnlyAccount(step),
        previews: step.previews,
        arguments: readApprovalContent(view, step),
      });
    },
    send: () => client.approveFlow(id, { stepKey }, { signal: call.signal }),
  });
}

function resumeFlow(pipeline: Pipeline, call: StaticCall, args: z.output<typeof resumeSchema>): Promise<ToolOutcome> {
  const tool = "svc_resume_flow";
  const { client } = pipeline;
  const id = args.flow_id;
  return runFlowTool(pipeline, call, {
    tool,
    seconds: args.wait_seconds,
    arguments: { flow_id: id },
    async plan() {
      const view = await client.getFlow(id, { signal: call.signal });
      const { flow } = view;
      if (!isResumable(view, pipeline.now())) {
        return refuse(tool, {
          code: "flow_conflict",
          message: `The flow is ${cleanText(flow.status, 80)}: there is nothing to resume. Nothing was run.`,
          hint: adviseNext(view, pipeline.now()) ?? "It is over; a new one is started with svc_start_flow.",
          result: showFlow(view),
        });
      }
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
      return { outcome: describeFlow(tool, view, pipeline.now()), watching: view.flow.id };
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
