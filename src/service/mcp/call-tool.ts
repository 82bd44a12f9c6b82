import { type Schema, Validator } from "@cfworker/json-schema";
import type { McpCall, McpResult, McpTool } from "./mcp-features.ts";
import { isRecord, type RpcMessage } from "./read-message.ts";
import { invalidParams } from "./rpc-error.ts";
import { problemResult } from "./tool-results.ts";

const validators = new WeakMap<McpTool, Validator>();

/**
 * `tools/call`. Arguments that do not match are a result with `isError`, which a model can read and correct.
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
  const problems = check(tool, args);
  if (problems.length === 0) return tool.call(args, call);
  return problemResult({
    error_code: "validation_error",
    message: problems[0] ?? "The arguments are not valid.",
    hint: `Correct the arguments of ${tool.name} and call it again; tools/list shows its input schema.`,
    details: problems,
  });
}

function check(tool: McpTool, args: Record<string, unknown>): string[] {
  let validator = validators.get(tool);
  if (validator === undefined) {
    validator = new Validator(tool.inputSchema as Schema, "2020-12", false);
    validators.set(tool, validator);
  }
  const lines = validator.validate(args).errors.flatMap(({ keyword, instanceLocation, error }) => {
    const field = instanceLocation.split("/").slice(1).join(".");
    if (keyword === "properties" || keyword === "items" || keyword === "additionalProperties") return [];
    if (keyword === "false") return [`${field} is not an argument of ${tool.name}.`];
    return [field === "" ? error : `${field}: ${error}`];
  });
  return [...new Set(lines)];
}
