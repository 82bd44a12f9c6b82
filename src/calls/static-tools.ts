import type { z } from "zod";
import type { SvcClient } from "../client/client.ts";
import { isSvcError } from "../errors.ts";
import { readOwnArguments, showOwnSchema } from "../schema/repair/own-arguments.ts";
import type { JsonSchema } from "../wire/tool.ts";
import { isAbort, isControlFlow, throwIfAborted } from "./ask/abort.ts";
import { describeTool, searchTools } from "./catalog/find-tools.ts";
import { createOutcome, type ToolOutcome } from "./outcome.ts";
import type { ToolCall } from "./pipeline.ts";
import {
  callSchema,
  describeSchema,
  readSchema,
  type StaticCall,
  type StaticToolParts,
  searchSchema,
  statusSchema,
} from "./static-tool-parts.ts";
import { describeBreakdown, describeSvcError } from "./steps/describe-error.ts";

/** Names of the tools that are always there, whatever the service offers. */
export const STATIC_TOOL_NAMES = [
  "svc_search_tools",
  "svc_describe_tool",
  "svc_call_tool",
  "svc_read_result",
  "svc_status",
] as const;
/** Names of the flow tools. */
export const FLOW_TOOL_NAMES = [
  "svc_list_flow_templates",
  "svc_start_flow",
  "svc_get_flow",
  "svc_approve_flow",
  "svc_resume_flow",
  "svc_cancel_flow",
] as const;
export type StaticToolName = (typeof STATIC_TOOL_NAMES)[number];
export type FlowToolName = (typeof FLOW_TOOL_NAMES)[number];

/** A tool of the plugin itself. Runtimes translate it like any other. */
export interface StaticTool {
  readonly name: StaticToolName | FlowToolName;
  readonly description: string;
  readonly schema: JsonSchema;
  /** Never throws but for an aborted call and a runtime's control flow. */
  run(args: unknown, call: StaticCall): Promise<ToolOutcome>;
  /** The call of a service's tool these arguments stand for; undefined when they stand for none. */
  readTarget(args: unknown): Pick<ToolCall, "toolName" | "arguments" | "connectionId"> | undefined;
}

/** Creates the static tools. `svc_call_tool` goes through the same pipeline as every other call. */
export function createStaticTools(parts: StaticToolParts): StaticTool[] {
  return [
    createTool("svc_search_tools", SEARCH_TEXT, searchSchema, (args, call) => searchTools(parts, args, call)),
    createTool("svc_describe_tool", DESCRIBE_TEXT, describeSchema, (args, call) => describeTool(parts, args, call)),
    {
      ...createTool("svc_call_tool", CALL_TEXT, callSchema, (args, call) =>
        parts.runTool({ ...call, ...toTarget(args) }),
      ),
      readTarget(args) {
        const read = readOwnArguments(callSchema, args);
        return read.ok ? toTarget(read.value) : undefined;
      },
    },
    createTool("svc_read_result", READ_TEXT, readSchema, (args) => readResult(parts, args)),
    createTool("svc_status", STATUS_TEXT, statusSchema, (_, call) => describeStatus(parts, call.signal)),
  ];
}

const SEARCH_TEXT =
  "Finds tools of the user's connected apps by what they do. Returns full names and what each may change. Describe a tool before its first call.";
const DESCRIBE_TEXT =
  "Shows one tool completely: what it does, its arguments as JSON Schema, and the accounts it can use.";
const CALL_TEXT =
  "Runs a tool by its full name. Anything that changes something is shown to the user for approval first; only the user can approve.";
const READ_TEXT = "Reads on in a result that was too long to be shown whole.";
/** Milliseconds the service may take to say that it accepts this device. */
const STATUS_MS = 10_000;
const STATUS_TEXT =
  "Tells which service is used, whether it accepts this device now, and how many tools and apps are known. Runs nothing.";

/** A tool whose arguments are checked by `schema`. A refusal and a failure become outcomes; `describe` words the latter. */
export function createTool<Schema extends z.ZodType>(
  name: StaticTool["name"],
  description: string,
  schema: Schema,
  run: (args: z.output<Schema>, call: StaticCall) => Promise<ToolOutcome>,
  describe = describeSvcError,
): StaticTool {
  return {
    name,
    description,
    schema: showOwnSchema(schema),
    readTarget: () => undefined,
    async run(args, call) {
      throwIfAborted(call.signal);
      const read = readOwnArguments(schema, args);
      if (!read.ok) return createOutcome("failed", name, read.refusal);
      try {
        return await run(read.value, call);
      } catch (error) {
        throwIfAborted(call.signal);
        if (isControlFlow(error) || isAbort(error)) throw error;
        return createOutcome("failed", name, isSvcError(error) ? describe(error) : describeBreakdown(error));
      }
    },
  };
}

function toTarget({ name, arguments: args = {}, connectionId }: z.output<typeof callSchema>) {
  const target = { toolName: name, arguments: args };
  return connectionId === undefined ? target : { ...target, connectionId: String(connectionId) };
}

async function readResult(parts: StaticToolParts, args: z.output<typeof readSchema>): Promise<ToolOutcome> {
  const { ref, offset, limit } = args;
  const page = await parts.results.read({
    ref,
    ...(offset === undefined ? {} : { offset }),
    ...(limit === undefined ? {} : { limit }),
  });
  if (page !== undefined) return createOutcome("succeeded", "svc_read_result", { result: page });
  return createOutcome("failed", "svc_read_result", {
    code: "result_not_found",
    message: "There is no stored result with this reference; old ones are dropped.",
    hint: "Make the call again with narrower arguments.",
    retryable: false,
  });
}

/** What is known here, and whether the service can be used now: a key that was revoked looks like any other. */
async function describeStatus({ client, catalog }: StaticToolParts, signal?: AbortSignal): Promise<ToolOutcome> {
  const { report } = catalog;
  const apps = [...new Set(catalog.list().map((entry) => entry.integration))];
  return createOutcome("succeeded", "svc_status", {
    result: {
      service: client.baseUrl,
      paired: client.hasKey,
      ...(await tryService(client, signal)),
      tools: report?.tools ?? catalog.list().length,
      apps,
      not_listed: report?.omitted ?? [],
      synced_at: report === undefined ? null : new Date(report.syncedAt).toISOString(),
    },
  });
}

async function tryService(client: SvcClient, signal: AbortSignal | undefined): Promise<Record<string, unknown>> {
  try {
    await client.listTools({ limit: 1 }, { signal, timeoutMs: STATUS_MS });
    return { works: true };
  } catch (error) {
    throwIfAborted(signal);
    if (!isSvcError(error)) throw error;
    const { code, message, hint } = describeSvcError(error);
    return { works: false, problem: { code, message, hint } };
  }
}
