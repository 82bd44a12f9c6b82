import { shortenText } from "../base/text.ts";
import { within } from "../base/within.ts";
import { type ArgumentChecker, type CheckError, createChecker, LIMITS_MS, measureSize } from "./check-arguments.ts";
import { type ArgumentProblem, explainProblems } from "./explain-problems.ts";
import type { JsonSchema } from "./json-schema.ts";
import { normaliseSchema, UnusableSchema } from "./normalise-schema.ts";

/** How arguments fit a schema. Unchecked arguments are never `valid`. */
export type StrictVerdict =
  | { readonly kind: "valid" }
  | { readonly kind: "invalid"; readonly problems: readonly ArgumentProblem[] }
  /** `field`: the argument that cannot be checked, empty for all of them; `why` ends a sentence that it begins. */
  | { readonly kind: "unchecked"; readonly field: string; readonly why: string };

const MAX_FIELD = 500;
const MAX_PROBLEMS = 100;
/** Additional time for each value: lists of some 100,000 values are fine. */
const MS_PER_VALUE = 0.01;

interface StrictSchema {
  readonly schema: JsonSchema;
  readonly checker: ArgumentChecker;
}

/** By schema: reading one takes longer than a check. */
const known = { whole: new WeakMap<object, StrictSchema>(), open: new WeakMap<object, StrictSchema>() };

/**
 * Checks arguments for the side that answers for them: formats count, a file field takes any object, and a schema that
 * cannot be read in full is refused; a reference that leads nowhere accepts anything. Up to 100 problems are told.
 *
 * @param options `limitsMs`: how long each try may take, default 250, then 1,000; `isWhole`: the schema is of this program
 *   and taken at its word for files and long lists, too
 * @throws UnusableSchema with the reason as its cause
 */
export function checkStrictly(
  inputSchema: JsonSchema,
  args: Readonly<Record<string, unknown>>,
  { limitsMs = LIMITS_MS, isWhole = false }: { limitsMs?: readonly number[]; isWhole?: boolean } = {},
): StrictVerdict {
  const { schema, checker } = readSchema(inputSchema, isWhole);
  const size = measureSize(args);
  const explain = (errors: readonly CheckError[]): StrictVerdict => ({
    kind: "invalid",
    problems: explainProblems(errors, schema, args, MAX_PROBLEMS),
  });
  let first: readonly CheckError[] | undefined;
  const judge = (): StrictVerdict => {
    const result = checker.check(args, (errors) => {
      first = errors;
    });
    if (result.verdict === "invalid") return explain(result.errors);
    return result.verdict === "valid" ? { kind: "valid" } : { kind: "unchecked", field: "", why: result.why };
  };
  const limits = limitsMs.map((limit) => limit + size * MS_PER_VALUE);
  const ended = checker.run(size, judge, limits);
  if (ended !== undefined) return ended.value;
  const errors = first ?? [];
  const told = errors.length > 0 ? checker.run(size, () => explain(errors), limits.slice(0, 1)) : undefined;
  return told?.value ?? { kind: "unchecked", field: findSlow(checker, args), why: "takes too long to check" };
}

function readSchema(inputSchema: JsonSchema, isWhole: boolean): StrictSchema {
  const schemas = isWhole ? known.whole : known.open;
  const read = schemas.get(inputSchema);
  if (read !== undefined) return read;
  try {
    const schema = normaliseSchema(inputSchema, { isStrict: true, isWhole });
    const strict = { schema, checker: createChecker(schema) };
    schemas.set(inputSchema, strict);
    return strict;
  } catch (cause) {
    throw cause instanceof UnusableSchema ? cause : new UnusableSchema("The schema cannot be used.", { cause });
  }
}

/** Checks arguments one by one: the name of the argument at the time limit; empty if all are checked in time. */
function findSlow(checker: ArgumentChecker, args: Readonly<Record<string, unknown>>): string {
  let field = "";
  within(LIMITS_MS[0] ?? 1, () => {
    for (const name of Object.keys(args)) {
      field = name;
      checker.check({ [name]: args[name] });
    }
    field = "";
  });
  return shortenText(field, MAX_FIELD);
}
