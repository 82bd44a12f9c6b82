import { isRecord } from "../../base/json.ts";
import { checkStrictly } from "../../schema/check/check-strictly.ts";
import { showValue } from "../../schema/check/describe-expected.ts";
import { type ArgumentProblem, createProblem } from "../../schema/check/explain-problems.ts";
import { UnusableSchema } from "../../schema/check/normalise-schema.ts";
import { findPlaceholderArguments } from "../../schema/check/placeholders.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import { ServiceError } from "../service-error.ts";

/** The key of a file object may be any string that matches a file sent along ("File rules" 6). */
const FREE_NAMES = ["s3key"];

/**
 * Checks arguments against the action's schema. File fields pass here: they are checked when the bytes are resolved.
 *
 * @throws ServiceError 400 `invalid_arguments` with one line for each of up to 100 problems in `details`, paths in
 *   `missingFields` and `invalidFields`, also for arguments that take too long to check; 400 `placeholder_argument` when a
 *   value was left unfilled, such as `<file id>`. 422 `integration_misconfigured` for a schema that nothing can be checked by.
 */
export function checkArguments(entry: CatalogEntry, args: unknown): Record<string, unknown> {
  if (!isRecord(args)) throw invalidArguments(entry, [createProblem([], "object", showValue(args, []))]);
  const verdict = judge(entry, args);
  if (verdict.kind === "invalid") throw invalidArguments(entry, verdict.problems);
  if (verdict.kind === "unchecked") throw uncheckedArguments(entry, verdict);
  refusePlaceholders(entry, args);
  return args;
}

function judge({ action, integration }: CatalogEntry, args: Record<string, unknown>) {
  try {
    return checkStrictly(action.inputSchema, args);
  } catch (error) {
    if (!(error instanceof UnusableSchema)) throw error;
    const message = `The arguments of "${action.title}" cannot be checked: the schema that ${integration.name} has for them is broken.`;
    throw new ServiceError(422, "integration_misconfigured", message, {
      type: "configuration",
      hint: "Use another action. The maker of the app has to correct the input schema of this one.",
      cause: error.cause,
    });
  }
}

function refusePlaceholders({ action }: CatalogEntry, args: Record<string, unknown>): void {
  const unfilled = new Map<string, string>();
  for (const { path, value } of findPlaceholderArguments(args, action.inputSchema, FREE_NAMES)) {
    unfilled.set(path, `arguments.${path} is still the placeholder ${value}`);
  }
  const details = [...unfilled.values()];
  if (details.length === 0) return;
  throw new ServiceError(400, "placeholder_argument", `${details[0]}.`, {
    type: "validation",
    details,
    hint: "Find the real value first, for example with a list or search tool, and send the call again.",
    extra: { invalidFields: [...unfilled.keys()] },
  });
}

function invalidArguments({ toolName }: CatalogEntry, problems: readonly ArgumentProblem[]): ServiceError {
  const details = problems.map(({ message }) => message);
  const listPaths = (isMissing: boolean) => [
    ...new Set(problems.filter((problem) => problem.isMissing === isMissing && problem.path).map(({ path }) => path)),
  ];
  return new ServiceError(400, "invalid_arguments", details[0] ?? "The arguments are not valid.", {
    type: "validation",
    details,
    hint: `Correct what \`details\` names and send the call again; GET /api/tools/${toolName} shows the full input schema.`,
    extra: { missingFields: listPaths(true), invalidFields: listPaths(false) },
  });
}

/** What nobody has checked is not let through. */
function uncheckedArguments({ toolName }: CatalogEntry, { field, why }: { field: string; why: string }): ServiceError {
  const line = `${field || "arguments"}: ${why}`;
  return new ServiceError(400, "invalid_arguments", `${line}.`, {
    type: "validation",
    details: [line],
    hint: `Send a shorter or simpler value; GET /api/tools/${toolName} shows the full input schema.`,
    extra: { missingFields: [], invalidFields: field === "" ? [] : [field] },
  });
}
