import { z } from "zod";
import { toolExecuteRequestSchema } from "../../../../wire/execution.ts";
import { TOOL_PAGE } from "../../../../wire/limits.ts";
import { RESULT_HEADER } from "../../shrink-output.ts";
import type { Operation, OperationParameter } from "../operation.ts";
import { resultHeaderSchema, shapes } from "../shapes.ts";
import { bare, envelope, query, RETRY_AFTER, segment } from "./answers.ts";

const INTEGRATION = query("integration", "Slug of the only integration to look at.");
const NAME = segment("name", "Full tool name from a list or search.");

/** The opt-in of both endpoints that execute. */
export const RESULT: OperationParameter = {
  name: RESULT_HEADER,
  in: "header",
  description:
    "`offload` replaces an output above 64 kB by a StoredResult; GET /api/executions/{id} has the output itself.",
  schema: resultHeaderSchema,
};

/** "Discovery" and "Execution" of the tool-name model. */
export const toolOperations: readonly Operation[] = [
  {
    method: "get",
    path: "/api/tools",
    summary: "Lists tools by integration, then name, without schemas.",
    tag: "Tools",
    access: "key",
    parameters: [
      INTEGRATION,
      {
        ...query("limit", `1 to ${TOOL_PAGE.max}; other numbers are clamped.`),
        schema: z.int().min(1).max(TOOL_PAGE.max).default(TOOL_PAGE.default),
      },
    ],
    answers: { 200: { description: "Tools; a notice comes last when some are left out", body: shapes.ToolList } },
  },
  {
    method: "get",
    path: "/api/tools/search",
    summary: "Finds tools by words.",
    tag: "Tools",
    access: "key",
    parameters: [
      query("query", "What the tool should do, in a few words.", true),
      INTEGRATION,
      { ...query("limit", "Most tools in the answer."), schema: z.int().min(1).max(TOOL_PAGE.max).default(10) },
    ],
    answers: { 200: { description: "Tools by relevance", body: shapes.ToolSearch }, 400: bare("`query` is missing") },
  },
  {
    method: "get",
    path: "/api/tools/{name}",
    summary: "Describes one tool with its full input schema.",
    tag: "Tools",
    access: "key",
    parameters: [NAME],
    answers: { 200: { description: "The tool", body: shapes.ToolDescription }, 404: bare("No such tool") },
  },
  {
    method: "post",
    path: "/api/tools/{name}/execute",
    summary: "Runs a tool; takes file bytes and a choice of connection.",
    tag: "Tools",
    access: "key",
    parameters: [NAME, RESULT],
    request: { required: true, content: { "application/json": toolExecuteRequestSchema } },
    answers: {
      200: { description: "It ran", body: shapes.SucceededEnvelope },
      400: envelope("The arguments or their files are not valid"),
      401: envelope("The key is refused, or the connection must be signed in to again"),
      402: envelope("The usage limit of the day is reached"),
      403: envelope("The connection lacks scopes that the tool needs"),
      404: envelope("There is no such tool, or the provider does not have what was asked for"),
      409: envelope("Not connected, or several connections and none chosen"),
      412: envelope("Needs the approval of a human: send again with `confirmed` true"),
      413: bare("The files hold more than 100 MB, or the rest more than 8 MB"),
      422: envelope("The integration or the connection is not set up correctly"),
      429: envelope("The provider limits the rate", RETRY_AFTER),
      500: envelope("It failed unexpectedly"),
      503: envelope("The provider is not available or took too long"),
    },
  },
];
