import { type ZodType, z } from "zod";
import { bareErrorSchema } from "../../../shared/wire/execution.ts";
import { RESULT_HEADER } from "../render-outcome.ts";
import { resultHeaderSchema, shapes } from "./shapes.ts";

/** Who may call: a live API key; a key or an OAuth token; a single-use upload token; anybody. */
export type OperationAccess = "key" | "mcp" | "ingest" | "anybody";

/** A value of the path, the query or a header. */
export interface OperationParameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly description: string;
  /** Default: a text. */
  readonly schema?: ZodType;
  /** Default false; a path parameter is always required. */
  readonly required?: boolean;
}

/** Bodies by content type; `binary` stands for bytes of any kind, `nothing` for an empty body. */
export type OperationBody = ZodType | "binary" | "nothing";

/** The meaning of one status. */
export interface OperationAnswer {
  readonly description: string;
  /** Several shapes when the status has several causes. */
  readonly body: OperationBody | readonly ZodType[];
  /** Default `application/json`. */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One method of one path, as the OpenAPI document describes it. */
export interface Operation {
  readonly method: "get" | "post";
  /** In OpenAPI form: `/api/tools/{name}`. */
  readonly path: string;
  /** One sentence. */
  readonly summary: string;
  /** Heading in the document. */
  readonly tag: string;
  readonly access: OperationAccess;
  readonly parameters?: readonly OperationParameter[];
  readonly request?: { readonly required: boolean; readonly content: Readonly<Record<string, OperationBody>> };
  /**
   * Answers of this operation. Those that every operation has are added: 400 for a foreign `Host`, 401 without a live
   * key, 403 for other web sites, 500; where a status is named here too, both shapes are documented.
   */
  readonly answers: Readonly<Record<number, OperationAnswer>>;
}

/** A bare error ("Errors", envelope 3). */
export function bare(description: string): OperationAnswer {
  return { description, body: bareErrorSchema };
}

/** A refused or failed tool-name execution ("Errors", envelope 2). */
export function envelope(description: string, headers?: Readonly<Record<string, string>>): OperationAnswer {
  return { description, body: shapes.FailedEnvelope, ...(headers && { headers }) };
}

/** A catalog problem ("Errors", envelope 1). */
export function problem(description: string): OperationAnswer {
  return { description, body: shapes.BlockedSummary };
}

/** A text in the query. */
export function query(name: string, description: string, required = false): OperationParameter {
  return { name, in: "query", description, required };
}

/** A whole number from 1 in the query; other numbers are clamped. */
export function count(name: string, description: string, o: { max?: number; byDefault: number }): OperationParameter {
  const number = o.max === undefined ? z.int().min(1) : z.int().min(1).max(o.max);
  return { ...query(name, description), schema: number.default(o.byDefault) };
}

/** A text in the path. */
export function segment(name: string, description: string): OperationParameter {
  return { name, in: "path", description };
}

/** Header of answers that ask to wait. */
export const RETRY_AFTER = { "retry-after": "Seconds to wait before the next try." } as const;

/** The opt-in of both endpoints that execute. */
export const RESULT: OperationParameter = {
  name: RESULT_HEADER,
  in: "header",
  description:
    "`offload` replaces an output above 64 kB by a StoredResult; GET /api/executions/{id} has the output itself.",
  schema: resultHeaderSchema,
};
