import { z } from "zod";
import { hideCredential } from "../../shared/base/credential-name.ts";
import { parseExactly } from "../../shared/base/exact-number.ts";
import { isRecord } from "../../shared/base/json.ts";
import { cutText, shortenText } from "../../shared/base/text.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import { ServiceError, type ServiceErrorStatus } from "../service-error.ts";
import type { ExecutionRow } from "../store/schema.ts";
import { type Permission, readPermission } from "./permission.ts";

/** How one call ended. Every endpoint that executes renders this value in its own shape. */
export interface ExecutionOutcome {
  /** `blocked`: the action never ran and `executionId` is null. `failed`: it ran and errored. */
  readonly status: "succeeded" | "blocked" | "failed";
  readonly executionId: string | null;
  /** The name that was asked for. */
  readonly toolName: string;
  /** Undefined when there is no such tool, or nobody was let in. */
  readonly entry: CatalogEntry | undefined;
  /** Names from a canonical request or a stored row; shown where `entry` is undefined. */
  readonly asked?: { readonly integrationId: string; readonly actionId: string };
  readonly connectionId: string | null;
  readonly startedAt: string;
  readonly finishedAt: string;
  /** The provider's result; undefined unless it succeeded. */
  readonly output?: unknown;
  /** Set unless it succeeded. */
  readonly error?: ServiceError;
  /** ISO 8601: until when the service can undo it. Default: it cannot. */
  readonly undoableUntil?: string | undefined;
  /** True where it was blocked because what it acts on is not as it was shown: nothing was done. */
  readonly isStale?: boolean;
}

/** The outcome of a call that was refused before anything ran, at an ISO time. */
export function blockedOutcome(
  error: ServiceError,
  at: string,
  known: Partial<Pick<ExecutionOutcome, "toolName" | "entry" | "asked">> = {},
) {
  const base = { status: "blocked", executionId: null, toolName: "", entry: undefined, connectionId: null } as const;
  return { ...base, startedAt: at, finishedAt: at, error, ...known };
}

/** An execution as it is read back: it may still run. */
export interface StoredExecution extends Omit<ExecutionOutcome, "status" | "finishedAt"> {
  readonly status: ExecutionOutcome["status"] | "running";
  /** Null while it runs. */
  readonly finishedAt: string | null;
  /** Who or what let it run, of a row that says so. */
  readonly permission?: Permission | undefined;
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

/** Turns a stored row back into its outcome. A refused call reads as failed: it has an id. */
export function readExecution(row: ExecutionRow, catalog: Catalog): StoredExecution {
  const base = {
    executionId: row.id,
    toolName: row.tool_name,
    entry: catalog.find(row.tool_name),
    asked: { integrationId: row.integration, actionId: row.action_id },
    connectionId: row.connection_id || null,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    permission: readPermission(row.permission),
  };
  if (row.status === "started") return { ...base, status: "running" };
  if (row.status === "succeeded") return { ...base, status: "succeeded", output: parseExactly(row.output ?? "null") };
  return { ...base, status: "failed", error: restoreError(row.error) };
}

/** Longest arguments that are kept whole, in characters of JSON: as many as the log shows. */
const MAX_KEPT = 20_000;
/** In longer ones: longest text and name. */
const MAX_TEXT = 2000;
const MAX_NAME = 200;

/**
 * JSON of arguments of a refused call, for the log: anybody with a key can send large ones again and again. Long
 * ones keep their beginning, and say how much is left out. Credentials are hidden.
 */
export function shortenArguments(args: unknown): string {
  const json = JSON.stringify(args, hideCredential) ?? "null";
  return json.length <= MAX_KEPT ? json : JSON.stringify(shortenJson(parseExactly(json), json));
}

/** A value of which a long `json` is shortened: long texts and lists keep their beginning, and say how much is left out. */
export function shortenJson(value: unknown, json: string): unknown {
  return json.length <= MAX_KEPT ? value : shorten(value, { left: MAX_KEPT });
}

function shorten(value: unknown, budget: { left: number }): unknown {
  budget.left -= 10;
  if (typeof value === "string") {
    const text = cut(value, MAX_TEXT);
    budget.left -= text.length;
    return text;
  }
  if (!isRecord(value) && !Array.isArray(value)) return value;
  if (Array.isArray(value)) {
    const kept: unknown[] = [];
    for (const part of value) {
      if (budget.left <= 0) break;
      kept.push(shorten(part, budget));
    }
    return kept.length === value.length ? kept : [...kept, describeRest(value.length - kept.length)];
  }
  const parts = Object.entries(value);
  const kept: [string, unknown][] = [];
  for (const [name, part] of parts) {
    if (budget.left <= 0) break;
    const shown = cut(name, MAX_NAME);
    budget.left -= shown.length;
    kept.push([shown, shorten(part, budget)]);
  }
  if (kept.length < parts.length) kept.push(["…", describeRest(parts.length - kept.length)]);
  return Object.fromEntries(kept);
}

function describeRest(count: number): string {
  return `… ${count} more`;
}

function cut(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const kept = cutText(text, longest);
  return `${kept}… ${text.length - kept.length} more characters`;
}
