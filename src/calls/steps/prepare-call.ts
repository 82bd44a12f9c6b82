import { sha256Hex } from "../../base/hash.ts";
import { type LocatedFile, locateFiles } from "../../media/locate/locate-files.ts";
import { findPlaceholderArguments, isPlaceholderSchema } from "../../schema/check/placeholders.ts";
import { createArgumentGuard } from "../../schema/repair/argument-guard.ts";
import type { JsonSchema } from "../../wire/tool.ts";
import { canonicalJson } from "../ask/fingerprint.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import { createOutcome } from "../outcome.ts";
import { proceed, type Step, stop, type ValidationMode } from "../pipeline.ts";
import { cleanLines } from "../safe-text.ts";

type Guard = ReturnType<typeof createArgumentGuard>;

/** A call whose arguments were checked here and whose files were found, none of them read. */
export interface PreparedCall {
  readonly arguments: Record<string, unknown>;
  readonly files: readonly LocatedFile[];
  /** What was repaired. */
  readonly notes: readonly string[];
  /** What the local check still holds against the arguments, when they are sent all the same. */
  readonly problems: readonly string[];
}

/** How arguments are checked. */
export interface CheckOptions {
  readonly validation: ValidationMode;
  /** Calls refused before; the same one again passes with a note, unless validation is strict. */
  readonly advised: Set<string>;
}

const MAX_ADVISED = 500;
const guards = new WeakMap<object, Guard>();

/**
 * Steps 3 and 4. Finds the file fields, checks the arguments and repairs only what failed. A refusal is advice: the
 * service's schemas are sometimes wrong, so the same call made again goes to the service.
 */
export function prepareCall(
  entry: CatalogEntry,
  args: Record<string, unknown>,
  options: CheckOptions,
): Step<PreparedCall> {
  const located = locateFiles(entry.inputSchema, args);
  const checked = checkArguments(entry, located.args, options.validation);
  // A repair may have turned text into an object that holds a file.
  const final = checked.repairs.length === 0 ? located : locateFiles(entry.inputSchema, checked.args);
  const prepared = { arguments: final.args, files: final.files, notes: checked.repairs };
  if (checked.problems.length === 0) return proceed({ ...prepared, problems: [] });
  const key = sha256Hex(canonicalJson([entry.name, args]));
  if (options.validation === "advise" && options.advised.has(key)) {
    const note = "sent although the local check disagrees, because the same call was made again";
    return proceed({ ...prepared, notes: [...checked.repairs, note], problems: checked.problems });
  }
  remember(options.advised, key);
  return stop(refuseArguments(entry, checked, options.validation));
}

interface CheckedArguments {
  readonly args: Record<string, unknown>;
  readonly repairs: readonly string[];
  readonly problems: readonly string[];
}

function checkArguments(
  entry: CatalogEntry,
  args: Record<string, unknown>,
  validation: ValidationMode,
): CheckedArguments {
  const schema = entry.inputSchema;
  if (validation === "off") return { args, repairs: [], problems: [] };
  const checked = schema === null || isPlaceholderSchema(schema) ? undefined : getGuard(schema)(args);
  const result = checked?.args ?? args;
  const unfilled = findPlaceholderArguments(result, schema).map(
    ({ path, value }) => `${path} still holds the placeholder ${value}: look the real value up first`,
  );
  const problems = (checked?.ok === false ? checked.problems : []).map((problem) => problem.message);
  return { args: result, repairs: checked?.repairs ?? [], problems: [...problems, ...unfilled] };
}

function getGuard(schema: object): Guard {
  const known = guards.get(schema);
  if (known !== undefined) return known;
  const guard = createArgumentGuard(schema);
  guards.set(schema, guard);
  return guard;
}

function refuseArguments(entry: CatalogEntry, checked: CheckedArguments, validation: ValidationMode) {
  const again =
    validation === "strict" ? "" : " If you are sure they are right, make the same call again: it is sent then.";
  return createOutcome(
    "failed",
    entry.name,
    {
      code: "invalid_arguments",
      message: "The arguments do not fit this tool. Nothing was sent.",
      details: cleanLines(checked.problems),
      hint: `Correct the named arguments.${again}`,
      retryable: false,
    },
    checked.repairs,
  );
}

function remember(advised: Set<string>, key: string): void {
  advised.add(key);
  const oldest = advised.values().next();
  if (advised.size > MAX_ADVISED && oldest.done !== true) advised.delete(oldest.value);
}

/** Arguments made ready for a host that checks them itself, before a call reaches the pipeline. */
export interface RepairedArguments {
  /** With every repair that makes a value fit; the very value given when there was none. */
  readonly args: unknown;
  /** What to tell the model about each null that stands where a value is required; hosts that bend types invent one. */
  readonly wrongNulls: readonly string[];
}

/** Repairs arguments by the schema a model was shown. What cannot be repaired stays as given. Never throws. */
export function repairForSchema(schema: JsonSchema, args: unknown): RepairedArguments {
  if (isPlaceholderSchema(schema)) return { args, wrongNulls: [] };
  const { repairs, problems, args: repaired } = getGuard(schema)(args);
  const wrongNulls = problems.filter(({ got }) => got === "null").map(({ message }) => message);
  return { args: repairs.length === 0 ? args : repaired, wrongNulls };
}
