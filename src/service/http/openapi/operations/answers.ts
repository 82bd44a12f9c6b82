import { bareErrorSchema } from "../../../../wire/bare-error.ts";
import type { OperationAnswer, OperationParameter } from "../operation.ts";
import { shapes } from "../shapes.ts";

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

/** A text in the path. */
export function segment(name: string, description: string): OperationParameter {
  return { name, in: "path", description };
}

/** Header of answers that ask to wait. */
export const RETRY_AFTER = { "retry-after": "Seconds to wait before the next try." } as const;
