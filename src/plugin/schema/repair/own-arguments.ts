import { z } from "zod";
import { parseJson } from "../../../shared/base/json.ts";

/** Arguments of one of the plugin's own tools, or why they cannot be used, in the words of an outcome. */
export type OwnArguments<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false;
      readonly refusal: {
        readonly code: "invalid_arguments";
        readonly message: string;
        /** One line per problem, at most six, each beginning with the dotted path. */
        readonly details: readonly string[];
        readonly retryable: false;
      };
    };

const MAX_DETAILS = 6;

/** The schema as a model reads it with every list: without bounds that only a slip would meet, which the check keeps. */
export function showOwnSchema(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...shown } = z.toJSONSchema(schema, {
    io: "input",
    override: ({ jsonSchema }) => {
      if (jsonSchema.minLength === 1) delete jsonSchema.minLength;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return shown;
}

/** Reads the arguments of a tool of our own: an object, its JSON text as some models write it, or nothing. */
export function readOwnArguments<Schema extends z.ZodType>(
  schema: Schema,
  args: unknown,
): OwnArguments<z.output<Schema>> {
  const parsed = schema.safeParse(parseText(args));
  if (parsed.success) return { ok: true, value: parsed.data };
  const details = parsed.error.issues.map((issue) => `${issue.path.join(".") || "arguments"}: ${issue.message}`);
  return {
    ok: false,
    refusal: {
      code: "invalid_arguments",
      message: "The arguments do not fit this tool. Nothing was sent.",
      details: details.slice(0, MAX_DETAILS),
      retryable: false,
    },
  };
}

function parseText(args: unknown): unknown {
  if (typeof args !== "string") return args ?? {};
  return args.trim() === "" ? {} : (parseJson(args) ?? args);
}
