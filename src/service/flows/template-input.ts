import { z } from "zod";
import { isRecord } from "../../shared/base/json.ts";

/** One input of a template, as JSON Schema: what a form and a caller need to know of it. */
export const fieldSchema = z.strictObject({
  type: z.enum(["string", "integer", "number", "boolean", "array"]),
  /** Name for people. */
  title: z.string().min(1).max(80).optional(),
  description: z.string().max(500).optional(),
  default: z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]).optional(),
  enum: z.array(z.string()).min(1).max(100).optional(),
  format: z.literal("date-time").optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.int().min(0).optional(),
  maxLength: z.int().min(1).optional(),
  /** Of a list, whose entries are texts. */
  items: z.strictObject({ type: z.literal("string") }).optional(),
});

/** The inputs of a template, as JSON Schema. */
export const inputSchema = z.strictObject({
  type: z.literal("object"),
  properties: z.record(z.string(), fieldSchema),
  required: z.array(z.string()).optional(),
  additionalProperties: z.literal(false),
});
export type InputSchema = z.infer<typeof inputSchema>;

/** One input of a template, for people. */
export interface InputField extends z.infer<typeof fieldSchema> {
  readonly name: string;
  readonly label: string;
  readonly isRequired: boolean;
  /** The app one of whose accounts it chooses. */
  readonly app?: string | undefined;
}

/** The inputs of a template in their order; its accounts come last. */
export function listFields(o: {
  inputSchema: InputSchema;
  connectionFields: Readonly<Record<string, string>>;
}): InputField[] {
  const apps = new Map(Object.entries(o.connectionFields).map(([app, field]) => [field, app]));
  const { properties, required = [] } = o.inputSchema;
  const fields = Object.entries(properties).map(([name, field]) => ({
    ...field,
    name,
    label: field.title ?? name,
    isRequired: required.includes(name),
    app: apps.get(name),
  }));
  return [...fields.filter(({ app }) => app === undefined), ...fields.filter(({ app }) => app !== undefined)];
}

/** Describes an input that is checked by zod. Of several forms that it may have, the text is shown. */
export function toInputSchema(schema: z.ZodObject): InputSchema {
  const { properties = {}, required } = z.toJSONSchema(schema, { io: "input" });
  const fields = Object.entries(properties).map(([name, node]) => [name, simplify(node)] as const);
  return inputSchema.parse({
    type: "object",
    properties: Object.fromEntries(fields),
    ...(required && { required }),
    additionalProperties: false,
  });
}

function simplify(node: unknown): Record<string, unknown> {
  if (!isRecord(node)) return { type: "string" };
  const { anyOf, pattern: _, ...facts } = node;
  const [first] = Array.isArray(anyOf) ? anyOf : [];
  return { ...(isRecord(first) ? first : {}), ...facts };
}
