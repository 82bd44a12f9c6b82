import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import { ServiceError } from "../service-error.ts";

/**
 * Says a failure in the words of the canonical endpoint: its arguments are called `input`, its confirmation `confirm`,
 * and it knows neither `connectionId` nor `files`.
 */
export function phraseError(error: ServiceError, entry: CatalogEntry | undefined): ServiceError {
  const { hint, details, ...options } = error.options;
  const advice = adviseFor(error, entry) ?? hint;
  return new ServiceError(error.status, error.code, rename(error.message), {
    ...options,
    ...(advice !== undefined && { hint: rename(advice) }),
    ...(details !== undefined && { details: details.map(rename) }),
    cause: error,
  });
}

function rename(text: string): string {
  return text.replaceAll("`arguments`", "`input`").replaceAll(/(?<![\w.])arguments\./g, "input.");
}

function adviseFor({ code, options }: ServiceError, entry: CatalogEntry | undefined): string | undefined {
  if (entry === undefined) return undefined;
  const { integration, action, toolName } = entry;
  const byName = `POST /api/tools/${toolName}/execute`;
  if (code === "confirmation_required") {
    return "Show the human the action and its final input; after approval send the same request with `confirm` true.";
  }
  if (code === "invalid_arguments") {
    return `Correct \`input\` and send the request again; GET /api/actions/${integration.slug}/${action.id} shows its input_schema.`;
  }
  if (code === "ambiguous_connection") {
    return `Make one connection the default in the dashboard, or name one as \`connectionId\` with ${byName}.`;
  }
  if (code === "missing_file_bytes" && options.extra?.upload === undefined) {
    return `Put a public https URL into the field, or send the bytes with ${byName}.`;
  }
  return undefined;
}
