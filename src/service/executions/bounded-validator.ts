import { type OutputUnit, type Schema, Validator } from "@cfworker/json-schema";
import type { JsonSchema } from "../../wire/tool.ts";
import { boundSchema } from "./bound-schema.ts";

/** Looks of the validator that any arguments may take, and those for each value in them; a million are about two seconds. */
const MIN_VISITS = 300_000;
const VISITS_FOR_VALUE = 10;

class TooManyVisits extends Error {
  override readonly name = "TooManyVisits";
}

/**
 * Creates a check of arguments by a schema, which gives the validator's errors. Where alternatives hold each other, the
 * validator tries all of them at each level, so that a few nested values can take it hours: what takes too long is left to
 * the app's own system, and has no errors. Throws what the validator throws.
 */
export function createBoundedValidator(schema: JsonSchema): (args: Record<string, unknown>) => readonly OutputUnit[] {
  // Compiling may look as often as it likes.
  let left = Number.POSITIVE_INFINITY;
  const visit = () => {
    left -= 1;
    if (left < 0) throw new TooManyVisits();
  };
  const draft = String(schema.$schema).includes("draft-04") ? "4" : "2020-12";
  const validator = new Validator(boundSchema(schema, visit) as Schema, draft, false);
  return (args) => {
    left = MIN_VISITS + VISITS_FOR_VALUE * countValues(args);
    try {
      return validator.validate(args).errors;
    } catch (error) {
      if (error instanceof TooManyVisits) return [];
      throw error;
    }
  };
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
