import { z } from "zod";
import { ExactNumber } from "../../../shared/base/exact-number.ts";
import { fieldSchema, inputSchema } from "../template-input.ts";

const KEY = /^[a-z][a-z0-9_]{0,40}$/;
const keyText = z.string().regex(KEY, "must be lower-case letters, digits and _, and begin with a letter");
const inputName = z.string().regex(/^[A-Za-z][A-Za-z0-9_]{0,40}$/, "must be letters, digits and _");
const MAX_STEPS = 30;
/** Longest sentence of an approval before its references are replaced, in characters. */
const MAX_MESSAGE = 500;
/** Longest wait, in seconds. */
export const MAX_SECONDS = 366 * 24 * 60 * 60;

/** A template as its file has it; its steps are read one by one, see {@link STEP_SCHEMAS}. */
export const definitionSchema = z.strictObject({
  name: z.string().trim().min(1).max(80),
  description: z.string().trim().min(1).max(600),
  inputs: z
    .strictObject({
      type: z.literal("object"),
      properties: z.record(inputName, fieldSchema),
      required: z.array(z.string()).optional(),
    })
    .default({ type: "object", properties: {} }),
  steps: z.array(z.looseObject({})).min(1).max(MAX_STEPS),
});

const reference = z.string().min(1);
const json: z.ZodType = z.lazy(() =>
  z.union([
    z.instanceof(ExactNumber),
    z.string(),
    z.number(),
    z.boolean(),
    z.null(),
    z.array(json),
    z.record(z.string(), json),
  ]),
);

/** The kinds of steps by the member that only they have. */
export const STEP_SCHEMAS = {
  /** Calls a tool once, or for each entry of a list. */
  call: z.strictObject({
    key: keyText,
    call: z.string().min(1),
    arguments: z.record(z.string(), json).default({}),
    each: reference.optional(),
  }),
  /** Shows the writes that follow, up to the next approval, and waits for a yes to them. */
  approve: z.strictObject({ key: keyText, approve: z.string().trim().min(1).max(MAX_MESSAGE) }),
  /** Waits for some seconds, or until a time. */
  wait: z.strictObject({
    key: keyText,
    wait: z.strictObject({
      seconds: z.union([z.int().min(1).max(MAX_SECONDS), reference]).optional(),
      until: reference.optional(),
    }),
  }),
} as const;

/** A checked step. `arguments` and `each` may have references. */
const checkedStepSchema = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("call"),
    key: z.string(),
    tool: z.string(),
    /** Title of the action, and slug and name of its app, when it was checked. */
    title: z.string(),
    app: z.string(),
    appName: z.string(),
    /** Key of the approval that shows its calls; none for a read. */
    approval: z.string().optional(),
    arguments: z.record(z.string(), json),
    each: z.string().optional(),
  }),
  z.object({ type: z.literal("approve"), key: z.string(), message: z.string() }),
  z.object({
    type: z.literal("wait"),
    key: z.string(),
    seconds: z.union([z.int(), z.string()]).optional(),
    until: z.string().optional(),
  }),
]);
export type CheckedStep = z.infer<typeof checkedStepSchema>;
/** A checked step that calls a tool. */
export type CallStep = Extract<CheckedStep, { type: "call" }>;

/** A template that was checked, as flows that were started from it keep it. */
export const checkedSchema = z.object({
  key: z.string(),
  name: z.string(),
  description: z.string(),
  inputs: inputSchema,
  steps: z.array(checkedStepSchema),
});
export type CheckedTemplate = z.infer<typeof checkedSchema>;

/** The input that names the account of an app. */
export function toAccountField(app: string): string {
  return `${app}ConnectionId`;
}
