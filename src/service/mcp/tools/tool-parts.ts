import type { CanonicalExecutions } from "../../canonical/canonical-executions.ts";
import { toCanonicalCode } from "../../canonical/error-code.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { Connections } from "../../connections/connections.ts";
import type { ServiceError } from "../../service-error.ts";
import type { McpResult } from "../mcp-features.ts";
import { problemResult } from "../tool-results.ts";

/** What the `svc.*` tools work with. */
export interface ToolParts {
  readonly catalog: Catalog;
  readonly connections: Connections;
  readonly canonical: CanonicalExecutions;
  /** Base URL, without a slash at the end. */
  readonly baseUrl: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** A failure of the service as the result of a tool. */
export function refuse(error: ServiceError): McpResult {
  const { hint, details } = error.options;
  return problemResult({
    error_code: toCanonicalCode(error),
    message: error.message,
    ...(hint !== undefined && { hint: toToolWords(hint) }),
    ...(details !== undefined && { details }),
  });
}

/** Advice that names an endpoint, in the words of somebody who has tools instead. */
export function toToolWords(text: string): string {
  return text
    .replaceAll(/GET \/api\/actions\/([\w-]+)\/([\w-]+)/g, "svc.get_action")
    .replaceAll(/GET \/api\/actions\?integration_id=([\w-]+)/g, "svc.list_actions")
    .replaceAll(/GET \/api\/integrations/g, "svc.list_integrations")
    .replaceAll(/GET \/api\/executions\/([\w-]+)/g, "svc.get_execution");
}
