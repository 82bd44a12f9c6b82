import { z } from "zod";
import { shortenToSentence } from "../../shared/base/text.ts";
import { isSvcError } from "../../shared/errors.ts";
import { type JsonSchema, openArguments } from "../../shared/wire/tool.ts";
import { listAllIntegrations } from "../client/all-integrations.ts";
import type { SvcClient } from "../client/client.ts";
import { projectToolSchema, type SchemaProfile } from "../schema/project/project-schema.ts";
import { readOwnArguments, showOwnSchema } from "../schema/repair/own-arguments.ts";
import { isAbort, isControlFlow, throwIfAborted, toFailure } from "./ask/abort.ts";
import type { ToolCatalog } from "./catalog/catalog.ts";
import { type CatalogEntry, mustAskFirst } from "./catalog/catalog-entry.ts";
import { explainLimit } from "./catalog/limit-catalog.ts";
import { cleanText, createOutcome, type ToolOutcome } from "./outcome.ts";
import type { ToolCall } from "./pipeline.ts";
import { projectEntry } from "./projection.ts";
import type { ResultStore } from "./results.ts";
import { describeBreakdown, describeSvcError } from "./steps/outcome.ts";

/** Names of the static tools, available with every service. */
export const STATIC_TOOL_NAMES = [
  "svc_search_tools",
  "svc_describe_tool",
  "svc_call_tool",
  "svc_read_result",
  "svc_status",
] as const;
export type StaticToolName = (typeof STATIC_TOOL_NAMES)[number];

/** Names of the tools for flows; a program that limits its model has to allow them with `flows: true`. */
export const FLOW_TOOL_NAMES = [
  "svc_list_flow_templates",
  "svc_start_flow",
  "svc_get_flow",
  "svc_approve_flow",
  "svc_resume_flow",
  "svc_cancel_flow",
] as const;
export type FlowToolName = (typeof FLOW_TOOL_NAMES)[number];

/** Tools that change something themselves. */
export const CHANGING_TOOL_NAMES = [
  "svc_start_flow",
  "svc_approve_flow",
  "svc_resume_flow",
  "svc_cancel_flow",
] as const;

/** A call of a static tool: a {@link ToolCall} without tool, arguments and account. */
export type StaticCall = Omit<ToolCall, "toolName" | "arguments" | "connectionId">;

/** A tool of the plugin itself. Runtimes translate it like any other. */
export interface StaticTool {
  readonly name: StaticToolName | FlowToolName;
  readonly description: string;
  readonly schema: JsonSchema;
  run(args: unknown, call: StaticCall): Promise<ToolOutcome>;
  /** The service tool call that these arguments stand for, if any. */
  readTarget(args: unknown): Pick<ToolCall, "toolName" | "arguments" | "connectionId"> | undefined;
}

/** A tool whose arguments are checked by `schema`. Refusals and failures become outcomes; `describe` words failures. */
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

/** The tool with its schema as models of the profile take it; ours are written for `full`. */
export function showOwnTool(tool: StaticTool, profile: SchemaProfile): StaticTool {
  return profile === "full" ? tool : { ...tool, schema: projectToolSchema(tool.schema, { profile }).schema };
}

/** The parts of a session that the static tools use. */
export interface StaticToolParts {
  readonly client: SvcClient;
  readonly catalog: ToolCatalog;
  readonly results: ResultStore;
  readonly profile: SchemaProfile;
  readonly runTool: (call: ToolCall) => Promise<ToolOutcome>;
}

/** Most tools one search returns: a model reads them all. */
const MAX_HITS = 20;
/** Most characters of a description in a search: with the names, some 60 tokens a tool. */
const MAX_HIT_TEXT = 110;

const searchSchema = z.object({
  query: z.string().min(1).describe("What the tool should do, in a few words."),
  integration: z.string().optional().describe("Only tools of this app, by its slug."),
  limit: z.int().min(1).max(MAX_HITS).optional().describe("How many tools to return. Default 10."),
});
const describeSchema = z.object({ name: z.string().min(1).describe("Full name of the tool.") });
const callSchema = z.object({
  name: z.string().min(1).describe("Full name of the tool, as search or describe gave it."),
  arguments: z.union([openArguments, z.string()]).optional().describe("The tool's own arguments."),
  connectionId: z.union([z.string(), z.int()]).optional().describe("Account to use, when several are connected."),
});
const readSchema = z.object({
  ref: z.string().min(1).describe("The reference an earlier result gave."),
  offset: z.int().min(0).optional().describe("First character to read. Default 0."),
  limit: z.int().min(1).optional().describe("How many characters to read. Default and maximum 24000."),
});
const statusSchema = z.object({});

/** Creates the static tools. `svc_call_tool` goes through the same pipeline as every other call. */
export function createStaticTools(parts: StaticToolParts): StaticTool[] {
  const tools: StaticTool[] = [
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
  return tools.map((tool) => showOwnTool(tool, parts.profile));
}

const SEARCH_TEXT =
  "Finds tools of the user's connected apps by what they do. Returns full names and what each may change. Describe a tool before its first call.";
const DESCRIBE_TEXT =
  "Shows one tool completely: what it does, its arguments as JSON Schema, and the accounts it can use.";
const CALL_TEXT =
  "Runs a tool by its full name. Anything that changes something is shown to the user for approval first; only the user can approve.";
const READ_TEXT = "Reads on in a result that was too long to be shown whole.";
const STATUS_MS = 10_000;
const STATUS_TEXT =
  "Tells which service is used, whether it accepts this device now, and how many tools and apps are known. Runs nothing.";

async function searchTools(
  parts: StaticToolParts,
  args: z.output<typeof searchSchema>,
  call: StaticCall,
): Promise<ToolOutcome> {
  const { integration, limit = 10, query } = args;
  const found = await parts.catalog.search({ query, limit, integration }, call.signal);
  const tools = found.slice(0, limit).map((entry) => ({
    name: entry.name,
    // Most names begin with it.
    ...(entry.name.startsWith(`${entry.integration}_`) ? {} : { integration: entry.integration }),
    effect: entry.effect,
    asks_for_approval: tellApproval(entry),
    description: cleanText(shortenToSentence(entry.description, MAX_HIT_TEXT), MAX_HIT_TEXT),
  }));
  const omitted = found.length - tools.length;
  const notice = omitted > 0 ? { not_shown: omitted } : {};
  return createOutcome("succeeded", "svc_search_tools", {
    result: { tools, ...notice },
    hint: adviseSearch(tools.length, limit, explainLimit(parts.catalog)),
  });
}

/** Null for a tool whose effect is known only once it is described. */
function tellApproval(entry: CatalogEntry): boolean | null {
  return mustAskFirst(entry) || (entry.effect === "unknown" && entry.schemaHash === undefined ? null : false);
}

/** Says that there may be more results when a search fills its limit. */
function adviseSearch(count: number, limit: number, limits: string): string | undefined {
  if (count === 0) return `Try other words; an app that is not connected shows no tools.${limits}`;
  if (count < limit) return undefined;
  const wider = limit < MAX_HITS ? `, or raise limit up to ${MAX_HITS}` : "";
  return `These are the best ${count}; there may be more. Name the app with integration, use other words${wider}.`;
}

async function describeTool(
  parts: StaticToolParts,
  args: z.output<typeof describeSchema>,
  call: StaticCall,
): Promise<ToolOutcome> {
  const entry = await parts.catalog.find(args.name);
  throwIfAborted(call.signal);
  if (entry === undefined) {
    const close = parts.catalog.suggest(args.name).map(({ name }) => name);
    return createOutcome("failed", "svc_describe_tool", {
      code: "tool_not_found",
      message: `There is no tool named "${cleanText(args.name, 80)}".`,
      hint:
        (close.length === 0 ? "Search with svc_search_tools." : `Close names: ${close.join(", ")}.`) +
        explainLimit(parts.catalog),
      retryable: false,
    });
  }
  return createOutcome("succeeded", "svc_describe_tool", await parts.results.cap(showEntry(entry, parts.profile)));
}

function showEntry(entry: CatalogEntry, profile: SchemaProfile) {
  const isKnown = entry.schemaHash !== undefined && entry.inputSchema !== null;
  return {
    name: entry.name,
    integration: entry.integration,
    effect: entry.effect,
    asks_for_approval: tellApproval(entry),
    description: cleanText(entry.description, 4_000),
    accounts: entry.connections,
    arguments: isKnown ? projectEntry(entry, profile).schema : "unknown: the service gives no schema for this tool",
  };
}

function toTarget({ name, arguments: args = {}, connectionId }: z.output<typeof callSchema>) {
  const target = { toolName: name, arguments: args };
  return connectionId === undefined ? target : { ...target, connectionId: String(connectionId) };
}

async function readResult(parts: StaticToolParts, args: z.output<typeof readSchema>): Promise<ToolOutcome> {
  const { ref, offset, limit } = args;
  const page = await parts.results.read({ ref, offset, limit });
  if (page !== undefined) return createOutcome("succeeded", "svc_read_result", { result: page });
  return createOutcome("failed", "svc_read_result", {
    code: "result_not_found",
    message: "There is no stored result with this reference; old ones are dropped.",
    hint: "Make the call again with narrower arguments.",
    retryable: false,
  });
}

/** The local state, and whether the service accepts the key now: a revoked key looks like any other. */
async function describeStatus({ client, catalog }: StaticToolParts, signal?: AbortSignal): Promise<ToolOutcome> {
  const { report, isLimited } = catalog;
  const known = [...new Set(catalog.heads.map(({ integration }) => integration))];
  const { answer, tools, apps } = await tryService(client, signal);
  return createOutcome("succeeded", "svc_status", {
    result: {
      service: client.baseUrl,
      paired: client.hasKey,
      ...answer,
      // What was looked up so far is a part of what there is, and all that a limited program may see.
      tools: report?.tools ?? (isLimited ? catalog.size : (tools ?? catalog.size)),
      apps: isLimited ? known : (apps ?? known),
      not_listed: report?.omitted ?? [],
      synced_at: report === undefined ? null : new Date(report.syncedAt).toISOString(),
    },
  });
}

async function tryService(client: SvcClient, signal: AbortSignal | undefined) {
  const options = { signal, timeoutMs: STATUS_MS };
  try {
    const { total } = await client.listTools({ limit: 1 }, options);
    const listed = await listAllIntegrations(client, { connected_only: true }, options).catch(() => undefined);
    throwIfAborted(signal);
    const apps = listed?.map(({ integration_id }) => integration_id).sort();
    return { answer: { works: true }, tools: total, apps };
  } catch (error) {
    const { code, message, hint } = describeSvcError(toFailure(error, signal));
    return { answer: { works: false, problem: { code, message, hint } } };
  }
}
