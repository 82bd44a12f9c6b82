import type { Access } from "../../access/access-view.ts";
import type { Approvals } from "../../approvals/approvals.ts";
import type { CanonicalExecutions } from "../../executions/canonical-executions.ts";
import { toCanonicalCode } from "../../executions/summarise-outcome.ts";
import { ServiceError } from "../../service-error.ts";
import type { McpResult, ToolAnnotations } from "../mcp-features.ts";

/** A result: the value as structured content, and as text for clients and models that read only that. */
export function structuredResult(value: Readonly<Record<string, unknown>>, isError = false): McpResult {
  return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value, isError };
}

/** A result that tells a model the problem and the next step, in the words of an execution summary. */
export function problemResult(problem: {
  readonly error_code: string;
  readonly message: string;
  readonly hint?: string;
  readonly details?: readonly string[];
}): McpResult {
  return structuredResult({ status: "failed", ...problem }, true);
}

/** Everything the `svc.*` tools use. */
export interface ToolParts {
  readonly access: Access;
  readonly canonical: CanonicalExecutions;
  readonly approvals: Pick<Approvals, "find" | "findResult" | "urlOf">;
  /** Base URL, without a slash at the end. */
  readonly baseUrl: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The result of `work`; a refusal of the service is one too. */
export async function orRefuse(work: () => McpResult | Promise<McpResult>): Promise<McpResult> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { hint, details } = error.options;
    return problemResult({
      error_code: toCanonicalCode(error),
      message: error.message,
      ...(hint !== undefined && { hint: toToolWords(hint) }),
      ...(details !== undefined && { details }),
    });
  }
}

/** Advice that names an endpoint, in the words of somebody who has tools instead. */
export function toToolWords(text: string): string {
  return text
    .replaceAll(/GET \/api\/actions\/([\w-]+)\/([\w-]+)/g, "svc.get_action")
    .replaceAll(/GET \/api\/actions\?integration_id=([\w-]+)/g, "svc.list_actions")
    .replaceAll(/GET \/api\/integrations/g, "svc.list_integrations")
    .replaceAll(/GET \/api\/executions\/([\w-]+)/g, "svc.get_execution")
    .replaceAll(/GET \/api\/approvals\/([\w-]+)\?wait=(\d+)/g, 'svc.get_execution with execution_id "$1" and wait $2');
}

/** Annotations of a tool that only reads; the two other hints say something of writes alone. */
export function reads(title: string): ToolAnnotations {
  return { title, readOnlyHint: true, openWorldHint: false };
}
