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
  readonly connectionId: string | null;
  readonly startedAt: string;
  readonly finishedAt: string;
  /** The provider's result; undefined unless it succeeded. */
  readonly output?: unknown;
  /** Set unless it succeeded. */
  readonly error?: ServiceError;
}
