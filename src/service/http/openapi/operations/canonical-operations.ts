import { z } from "zod";
import { canonicalExecuteRequestSchema } from "../../../../wire/execution.ts";
import type { Operation } from "../operation.ts";
import { shapes } from "../shapes.ts";
import { bare, problem, query, RETRY_AFTER, segment } from "./answers.ts";
import { RESULT } from "./tool-operations.ts";

const CONNECTED_ONLY = { ...query("connected_only", "Leaves out apps that are not connected."), schema: z.boolean() };
const INTEGRATION = segment("integration_id", "Slug of an app.");

/** "Execution (canonical)" and "Catalog discovery". */
export const canonicalOperations: readonly Operation[] = [
  {
    method: "post",
    path: "/api/executions",
    summary: "Runs an action on the default connection; an idempotency_key makes it safe to repeat for seven days.",
    tag: "Executions",
    access: "key",
    parameters: [RESULT],
    request: { required: true, content: { "application/json": canonicalExecuteRequestSchema } },
    answers: {
      200: { description: "It ran", body: shapes.SucceededSummary },
      400: bare("`integration_id`, `action_id` or an object `input` is missing, or `files` was sent"),
      401: { description: "The key is refused", body: shapes.BlockedSummary },
      409: problem("It did not run: confirmation, connection, scopes, unknown action, or a key with other input"),
      500: {
        description: "The input is not valid, or it ran and failed",
        body: shapes.FailedSummary,
        headers: RETRY_AFTER,
      },
    },
  },
  {
    method: "get",
    path: "/api/executions/{id}",
    summary: "Reads an execution with its whole output.",
    tag: "Executions",
    access: "key",
    parameters: [segment("id", "An execution_id.")],
    answers: {
      200: {
        description: "The execution",
        body: [shapes.SucceededSummary, shapes.FailedSummary, shapes.RunningSummary],
      },
      404: bare("No such execution of this account"),
    },
  },
  {
    method: "get",
    path: "/api/integrations",
    summary: "Lists apps, connected or not.",
    tag: "Catalog",
    access: "key",
    parameters: [
      query("query", "Words; the best fitting apps come first."),
      query("category", "Category of apps."),
      CONNECTED_ONLY,
      query("supports_action", "Action id or tool name that the app must have."),
      { ...query("page", "From 1."), schema: z.int().min(1).default(1) },
      { ...query("page_size", "1 to 100."), schema: z.int().min(1).max(100).default(25) },
    ],
    answers: { 200: { description: "One page of apps", body: shapes.IntegrationPage } },
  },
  {
    method: "get",
    path: "/api/actions",
    summary: "Lists the actions of an app.",
    tag: "Catalog",
    access: "key",
    parameters: [
      query("integration_id", "Slug of the app.", true),
      query("intent", "What should be done; fitting actions come first."),
    ],
    answers: {
      200: { description: "All actions of the app", body: shapes.ActionList },
      400: problem("`integration_id` is missing"),
      404: problem("No such app"),
    },
  },
  {
    method: "get",
    path: "/api/actions/{integration_id}/{action_id}",
    summary: "Describes one action with the schema that its input is checked against.",
    tag: "Catalog",
    access: "key",
    parameters: [INTEGRATION, segment("action_id", "Action id or full tool name.")],
    answers: {
      200: { description: "The action", body: shapes.ActionDetail },
      404: problem("No such app or action"),
    },
  },
  {
    method: "get",
    path: "/api/search",
    summary: "Finds actions and apps by words.",
    tag: "Catalog",
    access: "key",
    parameters: [
      query("query", "What should be done, in a few words.", true),
      CONNECTED_ONLY,
      { ...query("limit", "1 to 100."), schema: z.int().min(1).max(100).default(25) },
    ],
    answers: {
      200: { description: "Finds by relevance", body: shapes.CatalogSearch },
      400: problem("`query` is missing"),
    },
  },
];
