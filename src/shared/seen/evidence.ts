import type { OriginSource } from "../wire/origin.ts";

/** Where a value was seen, and whether that is the owner's own. */
export interface SeenSource extends OriginSource {
  readonly whose: "yours" | "somebody";
}

/** A part of a result or of an app with one author. */
export interface AuthoredPart {
  readonly source: SeenSource;
  /** JSON or text: every value in it counts. */
  readonly content: unknown;
}

/** Finds where a form was seen first; forms are those of `collectForms`. */
export interface Evidence {
  find(form: string): SeenSource | undefined;
}
