import { Validator } from "@cfworker/json-schema";
import { z } from "zod";
import { call } from "../service/http-calls.ts";

/** A JSON Schema of the document. */
export type Schema = Readonly<Record<string, unknown>>;

const schemaSchema = z.record(z.string(), z.unknown());
const contentSchema = z.record(z.string(), z.looseObject({ schema: schemaSchema.optional() }));
const operationSchema = z.looseObject({
  operationId: z.string(),
  security: z.array(z.record(z.string(), z.unknown())),
  parameters: z
    .array(
      z
        .object({
          name: z.string(),
          in: z.enum(["path", "query", "header"]),
          required: z.boolean(),
          schema: schemaSchema,
        })
        .loose(),
    )
    .default([]),
  requestBody: z.looseObject({ required: z.boolean(), content: contentSchema }).optional(),
  responses: z.record(z.string(), z.looseObject({ content: contentSchema.optional() })),
});
const documentSchema = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), operationSchema)) });

/** One operation, as the document of a running service describes it. */
export interface FuzzOperation extends z.infer<typeof operationSchema> {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** True when a request without key or token must be refused. */
  readonly isGuarded: boolean;
  /** Undefined for a status the document does not have; problems of a body otherwise, none when it is as described. */
  check(status: number, contentType: string | undefined, text: string): string[] | undefined;
}

/** The document of a running service with everything a fuzzer asks it. */
export interface FuzzDocument {
  readonly operations: readonly FuzzOperation[];
  /** Follows references. */
  resolve(schema: Schema): Schema;
}

/** Reads `/openapi.json`. */
export async function readDocument(url: string): Promise<FuzzDocument> {
  const raw = (await call(`${url}/openapi.json`)).json;
  const document = documentSchema.parse(raw);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      path,
      method: method === "post" ? ("POST" as const) : ("GET" as const),
      isGuarded: operation.security.length > 0,
      check: createCheck(operation, raw),
    })),
  );
  return { operations, resolve: (schema) => resolve(schema, raw) };
}

function resolve(schema: Schema, document: unknown): Schema {
  if (typeof schema.$ref !== "string") return schema;
  const target = schema.$ref
    .slice(2)
    .split("/")
    .reduce<unknown>((node, part) => schemaSchema.parse(node)[part], document);
  return resolve(schemaSchema.parse(target), document);
}

function createCheck(operation: z.infer<typeof operationSchema>, document: object): FuzzOperation["check"] {
  const validators = new Map<string, Validator>();
  return (status, contentType, text) => {
    const answer = operation.responses[status];
    if (answer === undefined) return undefined;
    const media = Object.entries(answer.content ?? {});
    const [described] = media;
    if (described === undefined) return text === "" ? [] : [`a body where none is described: ${text.slice(0, 200)}`];
    const [type, { schema = {} }] = described;
    if (contentType?.split(";")[0] !== type) return [`content type ${contentType}, not ${type}`];
    const key = String(status);
    const validator = validators.get(key) ?? new Validator({ ...document, ...schema }, "2020-12");
    validators.set(key, validator);
    return validator.validate(JSON.parse(text)).errors.map((error) => `${error.instanceLocation}: ${error.error}`);
  };
}
