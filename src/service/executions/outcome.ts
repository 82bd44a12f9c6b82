import { z } from "zod";
import { shortenText } from "../../base/text.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import { ServiceError, type ServiceErrorStatus } from "../service-error.ts";

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

/** A failure as a row keeps it: everything that the same answer needs again, nothing internal. */
const storedErrorSchema = z.looseObject({
  code: z.string(),
  message: z.string(),
  status: z.int().default(500),
  type: z.string().optional(),
  retryable: z.boolean().optional(),
  retryAfterSeconds: z.number().optional(),
  hint: z.string().optional(),
  details: z.array(z.string()).optional(),
});

/** Longest message, and longest of its details, that are kept, in characters: they can repeat what the caller sent. */
const MAX_MESSAGE = 10_000;
const MAX_DETAIL = 1000;

/** Turns a failure into the JSON of `executions.error`. */
export function storeError({ code, message, status, options }: ServiceError): string {
  const { type, retryable, retryAfterSeconds, hint, details } = options;
  const lines = details?.map((text) => shortenText(text, MAX_DETAIL));
  const shown = { message: shortenText(message, MAX_MESSAGE), details: lines };
  return JSON.stringify({ code, status, type, retryable, retryAfterSeconds, hint, ...shown });
}

/** Turns the JSON of `executions.error` back into the failure. */
export function restoreError(json: string | null): ServiceError {
  const { code, message, status, ...rest } = storedErrorSchema.parse(JSON.parse(json ?? "{}"));
  const options = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  return new ServiceError(status as ServiceErrorStatus, code, message, options);
}
