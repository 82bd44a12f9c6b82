import { z } from "zod";
import type { SvcClient } from "../client/client.ts";
import type { SchemaProfile } from "../schema/project/project-schema.ts";
import type { ToolCatalog } from "./catalog/catalog.ts";
import { openArguments } from "./journal/json-object.ts";
import type { ToolOutcome } from "./outcome.ts";
import type { ToolCall } from "./pipeline.ts";
import type { ResultStore } from "./results.ts";

/** What a static tool is told about the call it serves: all of it but which tool is to be run. */
export type StaticCall = Omit<ToolCall, "toolName" | "arguments" | "connectionId">;

/** What the static tools reach for. */
export interface StaticToolParts {
  readonly client: SvcClient;
  readonly catalog: ToolCatalog;
  readonly results: ResultStore;
  readonly profile: SchemaProfile;
  readonly runTool: (call: ToolCall) => Promise<ToolOutcome>;
}

/** Most tools one search returns. */
export const MAX_HITS = 20;

/** Arguments of `svc_search_tools`. */
export const searchSchema = z.object({
  query: z.string().min(1).describe("What the tool should do, in a few words."),
  integration: z.string().optional().describe("Only tools of this app, by its slug."),
  limit: z.int().min(1).max(MAX_HITS).optional().describe("How many tools to return. Default 10."),
});
/** Arguments of `svc_describe_tool`. */
export const describeSchema = z.object({ name: z.string().min(1).describe("Full name of the tool.") });
/** Arguments of `svc_call_tool`. */
export const callSchema = z.object({
  name: z.string().min(1).describe("Full name of the tool, as search or describe gave it."),
  arguments: z.union([openArguments, z.string()]).optional().describe("The tool's own arguments."),
  connectionId: z.union([z.string(), z.int()]).optional().describe("Account to use, when several are connected."),
});
/** Arguments of `svc_read_result`. */
export const readSchema = z.object({
  ref: z.string().min(1).describe("The reference an earlier result gave."),
  offset: z.int().min(0).optional().describe("First character to read. Default 0."),
  limit: z.int().min(1).optional().describe("How many characters to read. Default and maximum 24000."),
});
/** Arguments of `svc_status`. */
export const statusSchema = z.object({});
