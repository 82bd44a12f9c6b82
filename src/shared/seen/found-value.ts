/** Kinds of values; the words of `Origin.kind`. */
export type ValueKind =
  | "address"
  | "host"
  | "link"
  | "phone"
  | "account"
  | "amount"
  | "number"
  | "date"
  | "path"
  | "name"
  | "text"
  | "code";

/** A value in a clean text, with the forms that it is compared by. */
export interface FoundValue {
  readonly kind: ValueKind;
  /** Where it stands: first character, and the one after its last. */
  readonly at: number;
  readonly end: number;
  /** Forms to look up, best first: one that is known makes the value known. */
  readonly asks: readonly string[];
  /** Forms that are known wherever this value stands in a source; at least those it asks for itself. */
  readonly gives: readonly string[];
  /** Forms of each of its parts, all of which must be known where the whole is not. */
  readonly parts?: readonly (readonly string[])[];
}
