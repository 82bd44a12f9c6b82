import { REQUIREMENTS } from "./requirements.ts";

const KNOWN_IDS: ReadonlySet<string> = new Set(REQUIREMENTS.map((requirement) => requirement.id));

/**
 * Says which rules of the document the surrounding test shows. Call it with string literals: the coverage test
 * reads the citations from the source text. Throws on an id that `requirements.ts` does not have.
 */
export function verifies(...ids: readonly string[]): void {
  const unknown = ids.filter((id) => !KNOWN_IDS.has(id));
  if (unknown.length > 0) {
    throw new Error(`No such rule in test/contract/requirements.ts: ${unknown.join(", ")}`);
  }
}
