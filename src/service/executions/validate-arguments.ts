import { type OutputUnit, type Schema, Validator } from "@cfworker/json-schema";
import type { JsonSchema } from "../../wire/tool.ts";
import { boundSchema } from "./bound-schema.ts";

/** Looks of the validator that any arguments may take, and those for each value in them; a million take two seconds. */
const MIN_VISITS = 300_000;
const VISITS_FOR_VALUE = 10;

/** Most errors that are looked at for an answer. */
const MAX_ERRORS = 10_000;
/** Characters of all their paths: each may repeat names of some megabytes. */
const MAX_LOOKED = 10_000_000;

/** Errors that only say that something below them is wrong. */
const CONTAINER_KEYWORDS: ReadonlySet<string> = new Set([
  "$recursiveRef",
  "$ref",
  "additionalItems",
  "additionalProperties",
  "allOf",
  "dependentSchemas",
  "else",
  "if",
  "items",
  "patternProperties",
  "prefixItems",
  "properties",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
]);

type Validate = (args: Record<string, unknown>) => readonly OutputUnit[];

/** By schema: compiling one dereferences the whole schema. */
const validators = new WeakMap<JsonSchema, Validate>();

/** No arguments can be checked by a schema, whatever they are. */
export class UnusableSchema extends Error {
  override readonly name = "UnusableSchema";
}

class TooManyVisits extends Error {
  override readonly name = "TooManyVisits";
}

/**
 * The validator's first 10,000 errors, none for good arguments; one without a keyword, whose text is about `arguments`
 * as a whole, where it cannot check them. That is so too where alternatives hold each other: it tries all of them at each
 * level, so that a few nested values could take it hours. What nobody has checked is not let through.
 *
 * @param copy what the schema is copied with, always the same for one schema; `watchSchema` for one of the owner's own
 *   program
 * @throws UnusableSchema, with what the validator says as its cause
 */
export function validateArguments(
  schema: JsonSchema,
  args: Record<string, unknown>,
  copy: typeof boundSchema = boundSchema,
): readonly OutputUnit[] {
  let validate = validators.get(schema);
  if (validate === undefined) {
    validate = createValidate(schema, copy);
    validators.set(schema, validate);
  }
  try {
    return validate(args).slice(0, MAX_ERRORS);
  } catch (thrown) {
    const error = explainThrown(thrown);
    if (error === undefined) throw unusable(thrown);
    return [{ keyword: "", keywordLocation: "#", instanceLocation: "#", error: `\`arguments\` ${error}` }];
  }
}

/** Those of the errors that say by themselves what is wrong; only the first ones where their paths are long. */
export function listCauses(errors: readonly OutputUnit[]): OutputUnit[] {
  const causes: OutputUnit[] = [];
  let looked = 0;
  for (const error of errors) {
    if (causes.length > 0 && looked > MAX_LOOKED) break;
    looked += error.instanceLocation.length;
    if (!CONTAINER_KEYWORDS.has(error.keyword)) causes.push(error);
  }
  return causes;
}

function createValidate(schema: JsonSchema, copy: typeof boundSchema): Validate {
  // Compiling may look as often as it likes.
  let left = Number.POSITIVE_INFINITY;
  const visit = () => {
    left -= 1;
    if (left < 0) throw new TooManyVisits();
  };
  const draft = String(schema.$schema).includes("draft-04") ? "4" : "2020-12";
  let validator: Validator;
  try {
    validator = new Validator(copy(schema, visit) as Schema, draft, false);
  } catch (cause) {
    throw unusable(cause);
  }
  return (args) => {
    left = MIN_VISITS + VISITS_FOR_VALUE * countValues(args);
    return validator.validate(args).errors;
  };
}

function unusable(cause: unknown): UnusableSchema {
  return new UnusableSchema("The schema cannot be used.", { cause });
}

function explainThrown(thrown: unknown): string | undefined {
  if (thrown instanceof TooManyVisits)
    return "takes too long to check: its values are nested too deeply for the alternatives of the schema. Send fewer levels.";
  // It passes all its errors as arguments of one call, of which there can be too many.
  if (thrown instanceof RangeError) return "has too many problems.";
  // It writes member names as URIs, which half a surrogate pair cannot be.
  if (thrown instanceof URIError) return "has a member name that is not well-formed Unicode.";
  return undefined;
}

/** Works through its own list, not the stack. */
function countValues(root: object): number {
  const open = [root];
  let count = 0;
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    for (const member of Object.values(value)) {
      count += 1;
      if (typeof member === "object" && member !== null) open.push(member);
    }
  }
  return count;
}
