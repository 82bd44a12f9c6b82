import { SvcError } from "../../errors.ts";

/** No underscore: the tool name `<slug>_<action>` then belongs to one slug only. */
const SLUG = /^[a-z][a-z0-9-]{0,30}$/;

/**
 * @param taken slugs in use, built-in ones included, without the one that is replaced.
 * @throws SvcError `invalid_config`, field `slug`, saying which form a slug has, or which app it is too close to.
 */
export function checkSlug(slug: string, taken: Iterable<string>): void {
  if (!SLUG.test(slug)) {
    const hint = "Use 1 to 31 small letters, digits and hyphens, beginning with a letter.";
    throw invalid(`"${slug}" cannot be the short name of an app.`, hint);
  }
  for (const other of taken) {
    if (loosen(other) !== loosen(slug)) continue;
    throw invalid(`There is already an app "${other}".`, "Choose another short name, or remove that app first.");
  }
}

function invalid(message: string, hint: string): SvcError {
  return new SvcError("invalid_config", message, { field: "slug", hint });
}

/** Callers may write hyphens, underscores and spaces as they like. */
function loosen(slug: string): string {
  return slug.toLowerCase().replaceAll(/[-_\s]+/g, "");
}
