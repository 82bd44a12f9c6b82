import type { Catalog } from "../catalog/catalog.ts";
import type { StoredExecution } from "../executions/outcome.ts";
import { restoreError } from "../executions/stored-error.ts";
import type { ExecutionRow } from "../store/schema.ts";

/** Turns a stored row back into what its caller was told. A refused call reads as failed: it has an id. */
export function readExecution(row: ExecutionRow, catalog: Catalog): StoredExecution {
  const base = {
    executionId: row.id,
    toolName: row.tool_name,
    entry: catalog.find(row.tool_name),
    asked: { integrationId: row.integration, actionId: row.action_id },
    connectionId: row.connection_id || null,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
  };
  if (row.status === "started") return { ...base, status: "running" };
  if (row.status === "succeeded") return { ...base, status: "succeeded", output: JSON.parse(row.output ?? "null") };
  return { ...base, status: "failed", error: restoreError(row.error) };
}
