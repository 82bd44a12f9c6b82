import { type ArgumentCheck, compileCheck } from "./check-arguments.ts";
import { type ArgumentProblem, createProblem, explainProblems } from "./explain-problems.ts";
import { isRecord, type JsonSchema } from "./json-schema.ts";
import { normaliseSchema } from "./normalise-schema.ts";
import { parseJson } from "./propose-changes.ts";
import { copyAsJson, endsSomewhere, measureArguments } from "./read-arguments.ts";
import { repairArguments } from "./repair-arguments.ts";
import { showValue } from "./show-value.ts";

/** What a guard found. */
export interface GuardResult {
  /** True when the arguments fit, as given or repaired, or could not be judged here. */
  readonly ok: boolean;
  /** The arguments to send: the very object given when nothing had to be repaired. `{}` when none could be read. */
  readonly args: Record<string, unknown>;
  /** What was repaired, one short note each. Empty for arguments that were fine. */
  readonly repairs: string[];
  /** What is still wrong, at most 6. Empty when `ok`. */
  readonly problems: ArgumentProblem[];
}

/** Judges the arguments of one tool. Takes any value; the root object may come as JSON text. Never throws. */
export type ArgumentGuard = (args: unknown) => GuardResult;

const MAX_ROOT_TEXT = 256 * 1024;

/**
 * Makes the guard of one tool. The schema is read on the first call, not before.
 *
 * Valid arguments are returned as they are, defaults are not filled in, unknown keys stay, and what cannot be judged
 * within about 20 ms (huge arguments, hostile schemas) passes: the service decides. A refusal is advice too, since
 * services publish schemas that are stricter than they are.
 *
 * @example
 * const guard = createArgumentGuard({ type: "object", properties: { page: { type: "integer" } } });
 * guard({ page: "2" }); // { ok: true, args: { page: 2 }, repairs: ["used page = 2"], problems: [] }
 */
export function createArgumentGuard(inputSchema: unknown): ArgumentGuard {
  let tool: { schema: JsonSchema; check: ArgumentCheck } | undefined;
  return (given) => {
    const root = readRoot(given);
    if (root === undefined) return { ok: false, args: {}, repairs: [], problems: [createNoJsonProblem()] };
    if ("problems" in root) return root;
    try {
      if (tool === undefined) {
        const schema = normaliseSchema(inputSchema);
        tool = { schema, check: compileCheck(schema) };
      }
      return judge(root, tool.schema, tool.check);
    } catch {
      return { ok: true, args: root.args, repairs: root.repairs, problems: [] };
    }
  };
}

interface Root {
  readonly args: Record<string, unknown>;
  readonly repairs: string[];
}

/** What can be read of the root; undefined for a value that fails when it is looked at. */
function readRoot(given: unknown): Root | GuardResult | undefined {
  try {
    return findRoot(given);
  } catch {
    return undefined;
  }
}

function createNoJsonProblem(): ArgumentProblem {
  return createProblem([], "values JSON can hold", "something it cannot");
}

/** The root object: given as such, as JSON text, or left out by a model that had no arguments to give. */
function findRoot(given: unknown): Root | GuardResult {
  if (isRecord(given)) return { args: given, repairs: [] };
  if (given === undefined || given === null || given === "") return { args: {}, repairs: ["used {} as the arguments"] };
  let value: unknown = given;
  for (let layer = 0; layer < 2 && typeof value === "string" && value.length <= MAX_ROOT_TEXT; layer++) {
    value = parseJson(value);
  }
  if (isRecord(value)) return { args: value, repairs: ["read the arguments from JSON text"] };
  return { ok: false, args: {}, repairs: [], problems: [createProblem([], "object", showValue(given, []))] };
}

function judge(root: Root, schema: JsonSchema, check: ArgumentCheck): GuardResult {
  const passed = { ok: true, args: root.args, repairs: root.repairs, problems: [] };
  const reading = measureArguments(root.args);
  if (reading.kind === "large") return passed;
  if (reading.kind === "deep" && endsSomewhere(root.args)) return passed;
  if (reading.kind !== "json") {
    const copy = copyAsJson(root.args);
    if (!isRecord(copy)) return { ...passed, ok: false, problems: [createNoJsonProblem()] };
    const judged = judge({ args: copy, repairs: root.repairs }, schema, check);
    return judged.ok && judged.repairs === root.repairs ? passed : judged;
  }
  const result = check.start(root.args, reading.size);
  if (result.verdict !== "invalid") return passed;
  const repaired = repairArguments(root.args, result.errors, schema, (args) => check.again(args));
  const repairs = [...root.repairs, ...repaired.repairs];
  if (repaired.errors.length === 0) return { ok: true, args: repaired.args, repairs, problems: [] };
  const problems = explainProblems(repaired.errors, schema, repaired.args);
  return { ok: false, args: repaired.args, repairs, problems };
}
