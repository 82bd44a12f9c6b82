import { toDoubles } from "../../../shared/base/exact-number.ts";
import { sha256Hex } from "../../../shared/base/hash.ts";
import { getAt, isRecord } from "../../../shared/base/json.ts";
import { findPlaceholderArguments, isPlaceholderSchema } from "../../../shared/schema-check/placeholders.ts";
import type { JsonSchema } from "../../../shared/wire/tool.ts";
import { locateFiles } from "../../media/locate/locate-files.ts";
import { createArgumentGuard } from "../../schema/repair/argument-guard.ts";
import { canonicalJson } from "../ask/fingerprint.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import { cleanLines, createOutcome, type ToolOutcome } from "../outcome.ts";
import type { ValidationMode } from "../pipeline.ts";
import { locate } from "./locate.ts";
import { type CallContext, type CallPlan, proceed, type Step, stop } from "./plan.ts";

type Guard = ReturnType<typeof createArgumentGuard>;

/** Number of remembered refusals. A model repeats a refused call at once or not at all. */
const MAX_ADVISED = 500;
const guards = new WeakMap<object, Guard>();

/**
 * Step 4. Checks the arguments and repairs only those that failed. A refusal is advice: the service's schemas are
 * sometimes wrong, so the same call is sent when it is repeated.
 */
export function check(context: Pick<CallContext, "settings" | "advised">, plan: CallPlan): Step<CallPlan> {
  const { validation } = context.settings;
  const { args, repairs, problems } = checkArguments(plan, validation);
  const repaired: CallPlan = { ...plan, arguments: args, notes: [...plan.notes, ...repairs] };
  // A repair may have turned text into an object that holds a file.
  const checked = repairs.length === 0 ? proceed(repaired) : locate(context, repaired);
  if (problems.length === 0 || !checked.ok) return checked;
  const key = sha256Hex(canonicalJson([plan.entry.name, plan.arguments]));
  if (validation !== "advise" || !context.advised.has(key)) {
    remember(context.advised, key);
    return stop(refuseArguments(plan.entry, { repairs, problems }, validation));
  }
  const note = "sent although the local check disagrees, because the same call was made again";
  const askReason = `The local check disagrees: ${problems.join("; ")}`;
  return proceed({ ...checked.value, askReason, notes: [...checked.value.notes, note] });
}

interface CheckedArguments {
  readonly args: Record<string, unknown>;
  readonly repairs: readonly string[];
  readonly problems: readonly string[];
}

function checkArguments({ entry, arguments: args, located }: CallPlan, validation: ValidationMode): CheckedArguments {
  const schema = entry.inputSchema;
  if (validation === "off") return { args, repairs: [], problems: [] };
  const checked = schema === null || isPlaceholderSchema(schema) ? undefined : getGuard(schema)(args);
  const result = checked?.args ?? args;
  const unfilled = findPlaceholderArguments(result, schema).map(
    ({ path, value }) => `${path} still holds the placeholder ${value}: look the real value up first`,
  );
  const problems = (checked?.ok === false ? checked.problems : []).map((problem) => problem.message);
  const unnamed = problems.length > 0 ? [] : findUnnamedFiles(result, located);
  return { args: result, repairs: checked?.repairs ?? [], problems: [...problems, ...unfilled, ...unnamed] };
}

/** Words where a file belongs: a storage key has folders, and otherwise comes with name and type. */
function findUnnamedFiles(args: Record<string, unknown>, located: CallPlan["located"]): string[] {
  return located.flatMap(({ kind, path, field, reference }) => {
    const value = kind === "storage_key" && !reference.includes("/") ? getAt(args, path) : undefined;
    if (!isRecord(value) || (isFilled(value.name) && isFilled(value.mimetype))) return [];
    const name = JSON.stringify(reference.slice(0, 80));
    return [`${field}: ${name} names no file; a stored file needs name and mimetype beside its s3key`];
  });
}

const isFilled = (value: unknown) => typeof value === "string" && value.trim() !== "";

function getGuard(schema: object): Guard {
  const known = guards.get(schema);
  if (known !== undefined) return known;
  const guard = createArgumentGuard(schema);
  guards.set(schema, guard);
  return guard;
}

function refuseArguments(
  entry: CatalogEntry,
  { repairs, problems }: Omit<CheckedArguments, "args">,
  validation: ValidationMode,
): ToolOutcome {
  const again =
    validation === "strict" ? "" : " If you are sure they are right, make the same call again: it is sent then.";
  const told = {
    code: "invalid_arguments",
    message: "The arguments do not fit this tool. Nothing was sent.",
    details: cleanLines(problems),
    hint: `Correct the named arguments.${again}`,
    retryable: false,
  };
  return createOutcome("failed", entry.name, told, repairs);
}

function remember(advised: Set<string>, key: string): void {
  advised.add(key);
  const oldest = advised.values().next();
  if (advised.size > MAX_ADVISED && oldest.done !== true) advised.delete(oldest.value);
}

/** Repaired arguments for a host that checks them itself before a call reaches the pipeline. */
export interface RepairedArguments {
  /** With every repair that makes a value fit; the original object if there was none. */
  readonly args: unknown;
  /** Messages for the model about nulls in place of required values; hosts that coerce types invent them. */
  readonly wrongNulls: readonly string[];
}

/**
 * Repairs arguments by the schema a model was shown, a file given as text included. Values it cannot repair stay
 * unchanged. Never throws.
 */
export function repairForSchema(schema: JsonSchema, args: unknown): RepairedArguments {
  if (isPlaceholderSchema(schema)) return { args, wrongNulls: [] };
  const checked = checkWithFiles(schema, args);
  const wrongNulls = checked.problems.filter(({ got }) => got === "null").map(({ message }) => message);
  // Of other numbers the host knows nothing: it gets the text it gave.
  return { args: toDoubles(checked.args) === checked.args ? checked.args : args, wrongNulls };
}

/** True when the arguments fit the schema as they are, as far as it can be checked; a file must be an object, too. */
export function fitsSchema(schema: JsonSchema, args: unknown): boolean {
  if (isPlaceholderSchema(schema)) return true;
  const { args: checked, problems } = checkWithFiles(schema, args);
  return problems.length === 0 && checked === args;
}

/** The check takes any form of a file; who reads the schema alone takes an object with its `s3key`. */
function checkWithFiles(schema: JsonSchema, args: unknown) {
  const guard = getGuard(schema);
  const checked = guard(args);
  const located = locateFiles(schema, checked.args);
  const isOther = located.files.some(({ path, reference }) => {
    const isObject = isRecord(getAt(located.args, path));
    return isObject && getAt(checked.args, [...path, "s3key"]) !== reference;
  });
  const given = isOther ? guard(located.args) : checked;
  const isAsGiven = !isOther && checked.repairs.length === 0;
  return { args: isAsGiven ? args : given.args, problems: given.ok ? [] : given.problems };
}
