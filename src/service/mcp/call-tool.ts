import { type OutputUnit, type Schema, Validator } from "@cfworker/json-schema";
import { shortenText } from "../shorten-text.ts";
import type { McpCall, McpResult, McpTool } from "./mcp-features.ts";
import { isRecord, type RpcMessage } from "./read-message.ts";
import { invalidParams } from "./rpc-error.ts";
import { problemResult } from "./tool-results.ts";

const validators = new WeakMap<McpTool, Validator>();

/** Most problems that an answer names, and the longest line for one, in characters: each may repeat what was sent. */
const MAX_PROBLEMS = 100;
const MAX_LINE = 1000;

type Problem = Pick<OutputUnit, "keyword" | "instanceLocation" | "error">;

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
  const lines = new Set<string>();
  for (const { keyword, instanceLocation, error } of validate(tool, args)) {
    if (lines.size === MAX_PROBLEMS) break;
    const field = instanceLocation.split("/").slice(1).join(".");
    if (keyword === "properties" || keyword === "items" || keyword === "additionalProperties") continue;
    const line = keyword === "false" ? `${field} is not an argument of ${tool.name}.` : `${field}: ${error}`;
    lines.add(shortenText(field === "" ? error : line, MAX_LINE));
  }
  return [...lines];
}

function validate(tool: McpTool, args: Record<string, unknown>): readonly Problem[] {
  let validator = validators.get(tool);
  if (validator === undefined) {
    validator = new Validator(tool.inputSchema as Schema, "2020-12", false);
    validators.set(tool, validator);
  }
  try {
    return validator.validate(args).errors;
  } catch (error) {
    // As for the arguments of actions: it writes names as URIs, and passes all errors as arguments of one call.
    const isNamed = error instanceof URIError;
    if (!isNamed && !(error instanceof RangeError)) throw error;
    const what = isNamed ? "have a member name that is not well-formed Unicode" : "have too many problems";
    return [{ keyword: "", instanceLocation: "#", error: `The arguments ${what}.` }];
  }
}
