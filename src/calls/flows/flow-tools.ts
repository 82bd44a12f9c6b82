import { z } from "zod";
import { openArguments } from "../../wire/tool.ts";
import { cleanText, createOutcome, type ToolOutcome } from "../outcome.ts";
import type { Pipeline } from "../pipeline.ts";
import { createTool, type FlowToolName, type StaticCall, type StaticTool } from "../static-tools.ts";
import { approveFlow, resumeFlow, startFlow } from "./gated-flows.ts";
import { describeFlowError, followFlow, showFlow } from "./read-flow.ts";

const MAX_WATCH_SECONDS = 300;
const LISTED = 20;

const flowId = z.string().min(1).describe("Id of the flow, as starting it gave.");
const waitSeconds = z
  .number()
  .min(0)
  .max(MAX_WATCH_SECONDS)
  .optional()
  .describe("How long to wait until the flow ends or needs the user. Default 20, at most 300.");
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
  return [
    createFlowTool("svc_list_flow_templates", LIST_TEXT, noneSchema, (_args, call) => listTemplates(pipeline, call)),
    createFlowTool("svc_start_flow", START_TEXT, startSchema, (args, call) => startFlow(pipeline, call, args)),
    createFlowTool("svc_get_flow", GET_TEXT, getSchema, (args, call) => getFlow(pipeline, call, args)),
    createFlowTool("svc_approve_flow", APPROVE_TEXT, approveSchema, (args, call) => approveFlow(pipeline, call, args)),
    createFlowTool("svc_resume_flow", RESUME_TEXT, resumeSchema, (args, call) => resumeFlow(pipeline, call, args)),
    createFlowTool("svc_cancel_flow", CANCEL_TEXT, cancelSchema, async (args, call) => {
      const view = await pipeline.client.cancelFlow(args.flow_id, { signal: call.signal });
      return createOutcome("succeeded", "svc_cancel_flow", { result: showFlow(view) });
    }),
  ];
}

function createFlowTool<Schema extends z.ZodType>(
  name: FlowToolName,
  description: string,
  schema: Schema,
  run: (args: z.output<Schema>, call: StaticCall) => Promise<ToolOutcome>,
): StaticTool {
  return createTool(name, description, schema, run, describeFlowError);
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
  const shown = templates.map(({ key, name, description }) => ({
    key,
    name: cleanText(name ?? key, 120),
    description: cleanText(description ?? "", 600),
  }));
  return createOutcome("succeeded", "svc_list_flow_templates", { result: { templates: shown } });
}

async function getFlow(pipeline: Pipeline, call: StaticCall, args: z.output<typeof getSchema>): Promise<ToolOutcome> {
  const id = args.flow_id;
  if (id !== undefined) return followFlow(pipeline, call, "svc_get_flow", { id, seconds: args.wait_seconds });
  const { flows } = await pipeline.client.listFlows({ limit: LISTED }, { signal: call.signal });
  const shown = flows.map(({ id: flow_id, templateKey, name, status, createdAt }) => ({
    flow_id,
    name: name ?? templateKey ?? null,
    status,
    created_at: createdAt ?? null,
  }));
  return createOutcome("succeeded", "svc_get_flow", { result: { flows: shown } });
}
