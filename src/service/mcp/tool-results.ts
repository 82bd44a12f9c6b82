import type { McpResult } from "./mcp-features.ts";

/** What a tool could not do, in the words of an execution summary. */
export interface ToolProblem {
  readonly error_code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly details?: readonly string[];
}

/** A result: the value as structured content, and as text for clients and models that read only that. */
export function structuredResult(value: Readonly<Record<string, unknown>>, isError = false): McpResult {
  return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value, isError };
}

/** A result that tells a model what went wrong and what to do about it. */
export function problemResult(problem: ToolProblem): McpResult {
  return structuredResult({ status: "failed", ...problem }, true);
}
