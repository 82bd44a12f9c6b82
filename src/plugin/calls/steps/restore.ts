import { ExactNumber, isInexact, parseExactly } from "../../../shared/base/exact-number.ts";
import { isRecord } from "../../../shared/base/json.ts";
import { restoreRenamedKeys } from "../../schema/project/rename-keys.ts";
import { canonicalJson } from "../ask/fingerprint.ts";
import { cleanText, createOutcome } from "../outcome.ts";
import { projectEntry } from "../projection.ts";
import { type CallContext, type CallPlan, proceed, type Step, stop } from "./plan.ts";

/** Members of the request that only a human or the runtime sets; a tool may still declare an argument of that name. */
const RESERVED = ["confirmed", "confirm", "files", "connectionId"] as const;
const MAX_JSON_TEXT = 256 * 1024;

interface ParsedArguments {
  readonly arguments: Record<string, unknown>;
  /** Canonical JSON of the arguments as they are now. */
  readonly canonical: string;
  readonly notes: readonly string[];
}

/** Parses the arguments as a JSON object, unchanged otherwise. */
export function parseArguments(toolName: string, raw: unknown): Step<ParsedArguments> {
  const notes: string[] = [];
  let value: unknown = raw ?? {};
  if (typeof value === "string") {
    if (value.length > MAX_JSON_TEXT) return refuse(toolName, "are longer than 256 KiB of text");
    try {
      value = value.trim() === "" ? {} : parseExactly(value);
    } catch {
      return refuse(toolName, "are text that is not JSON");
    }
    notes.push("arguments were given as JSON text and read as an object");
  }
  try {
    // What JSON cannot hold of numbers would become null.
    let rounded: string | undefined;
    const text = JSON.stringify(value, (key, part: unknown) => {
      if (isInexact(part)) rounded ??= key;
      return writeNumber(key, part);
    });
    if (rounded !== undefined) return refuseRounded(toolName, rounded);
    const plain = parseExactly(text);
    if (!isRecord(plain)) return refuse(toolName, "are not an object");
    return proceed({ arguments: plain, canonical: canonicalJson(plain), notes });
  } catch (error) {
    const why = error instanceof Error ? cleanText(error.message, 120) : "?";
    return refuse(toolName, `cannot be written as JSON (${why})`);
  }
}

/**
 * Step 2. Restores the service's names of renamed keys and drops members the model may not set. Declared arguments are
 * read from the projection too: the schema itself may declare them behind a reference or in a union.
 */
export function restore({ settings }: Pick<CallContext, "settings">, plan: CallPlan): Step<CallPlan> {
  const { entry, arguments: given } = plan;
  const { schema, renamed } = projectEntry(entry, settings.profile);
  const isDeclared = (name: string) =>
    [schema.properties, entry.inputSchema?.properties].some((map) => isRecord(map) && Object.hasOwn(map, name));
  const notes = [...plan.notes];
  const nested = given.arguments;
  const isMap = [schema, entry.inputSchema].some((one) => isRecord(one?.additionalProperties));
  const isNested = Object.keys(given).length === 1 && isRecord(nested) && !isDeclared("arguments") && !isMap;
  if (isNested) notes.push("the arguments were nested in `arguments`; the inner object was used");
  const named = isNested ? nested : given;
  const args = { ...(renamed.length === 0 ? named : restoreRenamedKeys(named, renamed)) };
  for (const name of RESERVED) {
    if (!Object.hasOwn(args, name) || isDeclared(name)) continue;
    delete args[name];
    notes.push(`${name} was ignored: ${explain(name)}`);
  }
  return proceed({ ...plan, arguments: args, notes });
}

function explain(name: (typeof RESERVED)[number]): string {
  if (name === "files") return "put the file's path in the tool's own file argument";
  if (name === "connectionId") return "a human chooses the account, or svc_call_tool names it";
  return "only a human can confirm";
}

function writeNumber(key: string, value: unknown): unknown {
  if (typeof value === "bigint") return ExactNumber.write(String(value));
  if (typeof value === "number" && !Number.isFinite(value)) throw new TypeError(`${key} is ${value}`);
  return value;
}

/** A runtime that parses the model's JSON by itself has no more digits of such a number than a double. */
function refuseRounded(toolName: string, field: string): Step<never> {
  return stop(
    createOutcome("failed", toolName, {
      code: "invalid_arguments",
      message: cleanText(`${field} is too large a number to come here with all its digits. Nothing was sent.`),
      hint: "Give it as text of its digits; if that is refused, too, give svc_call_tool all arguments as one JSON text.",
      retryable: false,
    }),
  );
}

function refuse(toolName: string, what: string): Step<never> {
  return stop(
    createOutcome("failed", toolName, {
      code: "invalid_arguments",
      message: `The arguments ${what}. Nothing was sent.`,
      hint: "Give the arguments as one JSON object.",
      retryable: false,
    }),
  );
}
