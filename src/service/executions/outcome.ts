import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import type { ServiceError } from "../service-error.ts";

/** How one call ended. Every endpoint that executes renders this value in its own shape. */
export interface ExecutionOutcome {
  /** `blocked`: the action never ran and `executionId` is null. `failed`: it ran and errored. */
  readonly status: "succeeded" | "blocked" | "failed";
  readonly executionId: string | null;
  /** The name that was asked for. */
  readonly toolName: string;
  /** Undefined when there is no such tool, or nobody was let in. */
  readonly entry: CatalogEntry | undefined;
  /** What a canonical request or a stored row names; shown where `entry` is undefined. */
  readonly asked?: { readonly integrationId: string; readonly actionId: string };
  readonly connectionId: string | null;
  readonly startedAt: string;
  readonly finishedAt: string;
  /** The provider's result; undefined unless it succeeded. */
  readonly output?: unknown;
  /** Set unless it succeeded. */
  readonly error?: ServiceError;
}

/** An execution as it is read back: it may still run. */
export interface StoredExecution extends Omit<ExecutionOutcome, "status" | "finishedAt"> {
  readonly status: ExecutionOutcome["status"] | "running";
  /** Null while it runs. */
  readonly finishedAt: string | null;
}
