import type { OutputUnit } from "@cfworker/json-schema";
import { watchSchema } from "../executions/bound-schema.ts";
import { toPath } from "../executions/check-arguments.ts";
import { listCauses, validateArguments } from "../executions/validate-arguments.ts";
import { shortenText } from "../shorten-text.ts";
import type { McpCall, McpResult, McpTool } from "./mcp-features.ts";
import { isRecord, type RpcMessage } from "./read-message.ts";
import { invalidParams } from "./rpc-error.ts";
import { problemResult } from "./tool-results.ts";

/** Most problems that an answer names, and the longest line for one, in characters: each may repeat what was sent. */
const MAX_PROBLEMS = 100;
const MAX_LINE = 1000;

/**
 * `tools/call`. Arguments that do not match are a result with `isError`, which a model can read and correct; it names up to
 * 100 problems.
 *
 * @throws RpcError -32602 for an unknown tool or arguments that are no object.
 */
export async function callTool(
  tools: readonly McpTool[],
  { name, arguments: args = {} }: RpcMessage["params"],
  call: McpCall,
): Promise<McpResult> {
  const tool = tools.find((known) => known.name === name || known.aliases?.some((alias) => alias === name));
  if (tool === undefined) throw invalidParams(`There is no tool ${JSON.stringify(name)}; tools/list shows all.`);
  if (!isRecord(args)) throw invalidParams("`params.arguments` must be an object.");
  const errors = validateArguments(tool.inputSchema, args, watchSchema);
  if (errors.length === 0) return tool.call(args, call);
  const problems = describeErrors(tool, errors);
  return problemResult({
    error_code: "validation_error",
    message: problems[0] ?? "The arguments are not valid.",
    hint: `Correct the arguments of ${tool.name} and call it again; tools/list shows its input schema.`,
    details: problems,
  });
}

function describeErrors(tool: McpTool, errors: readonly OutputUnit[]): string[] {
  const lines = new Set<string>();
  for (const { keyword, instanceLocation, error } of listCauses(errors)) {
    if (lines.size === MAX_PROBLEMS) break;
    const field = toPath(instanceLocation);
    const line = keyword === "false" ? `${field} is not an argument of ${tool.name}.` : `${field}: ${error}`;
    lines.add(shortenText(field === "" ? error : line, MAX_LINE));
  }
  return [...lines];
}
