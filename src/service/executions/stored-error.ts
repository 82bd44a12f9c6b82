import { z } from "zod";
import { ServiceError, type ServiceErrorStatus } from "../service-error.ts";
import { shortenText } from "../shorten-text.ts";

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
