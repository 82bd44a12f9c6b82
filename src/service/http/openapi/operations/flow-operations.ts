import { z } from "zod";
import { flowApproveRequestSchema, flowStartRequestSchema } from "../../../../wire/flow.ts";
import { FLOW_PAGE } from "../../../../wire/limits.ts";
import type { Operation } from "../operation.ts";
import { shapes } from "../shapes.ts";
import { bare, query, segment } from "./answers.ts";

const FLOWS = { tag: "Flows", access: "key" } as const;
const VIEW = { description: "The flow and its steps", body: shapes.FlowView } as const;
const UNKNOWN = bare("No such flow of this account");
const TOO_LARGE = bare("The body is larger than 1 MB");
const JSON_TYPE = "application/json";

/** A step of the owner that changes where a flow stands. */
function move(verb: "approve" | "resume" | "cancel", summary: string): Operation {
  const body = verb === "approve" ? flowApproveRequestSchema : z.looseObject({});
  return {
    ...FLOWS,
    method: "post",
    path: `/api/flows/{id}/${verb}`,
    summary,
    parameters: [segment("id", "A flow id.")],
    request: { required: false, content: { [JSON_TYPE]: body } },
    answers: {
      200: VIEW,
      404: UNKNOWN,
      409: bare("The flow is not in a state that allows this"),
      413: TOO_LARGE,
    },
  };
}

/** "Flows". */
export const flowOperations: readonly Operation[] = [
  {
    ...FLOWS,
    method: "get",
    path: "/api/flows/templates",
    summary: "Lists what flows can be started.",
    answers: { 200: { description: "The templates", body: shapes.FlowTemplates } },
  },
  {
    ...FLOWS,
    method: "post",
    path: "/api/flows/start",
    summary: "Starts a flow from a template.",
    request: { required: true, content: { [JSON_TYPE]: flowStartRequestSchema } },
    answers: {
      200: { description: "The flow as it stands shortly after", body: shapes.FlowStarted },
      400: bare("An unknown template, or an input that the template does not take"),
      413: TOO_LARGE,
    },
  },
  {
    ...FLOWS,
    method: "get",
    path: "/api/flows",
    summary: "Lists flows, most recent first.",
    parameters: [
      {
        ...query("limit", `1 to ${FLOW_PAGE.max}; other numbers are clamped.`),
        schema: z.int().min(1).max(FLOW_PAGE.max).default(FLOW_PAGE.default),
      },
    ],
    answers: { 200: { description: "The flows", body: shapes.FlowList } },
  },
  {
    ...FLOWS,
    method: "get",
    path: "/api/flows/{id}",
    summary: "Reads a flow with its steps.",
    parameters: [segment("id", "A flow id.")],
    answers: { 200: VIEW, 404: UNKNOWN },
  },
  move("approve", "Approves the step that a flow waits on."),
  move("resume", "Drives a waiting flow on, or tries a failed one again."),
  move("cancel", "Ends a flow."),
];
