import type { SchemaDraft } from "../json-schema.ts";
import type { RefResolver } from "../resolve-ref.ts";

/** One projection under way. */
export interface Projection {
  readonly resolve: RefResolver;
  /** Of draft-07 or earlier, where what stands beside a `$ref` is ignored. */
  readonly isOldDraft: boolean;
  readonly maxDepth: number;
  readonly maxNodes: number;
  /** What a reader of the projection should know, in sentences. */
  readonly notes: Set<string>;
  /** Keywords that could not be shown. */
  readonly dropped: Set<string>;
  /** Projects one node and everything below it. A `false` schema gives undefined. */
  readonly project: (node: unknown, place: ProjectionPlace, projection: Projection) => SchemaDraft | undefined;
  /** Nodes shown so far. */
  shown: number;
  /** Nodes read so far. */
  nodes: number;
  /** Entries of maps and lists that were merged so far; see {@link canMerge}. */
  merged: number;
}

/** Where in the schema the walk is: how deep, and inside which definitions. */
export interface ProjectionPlace {
  readonly depth: number;
  readonly stack: readonly object[];
}

/** Far above what schemas need; a flood of references to one large map would be copied for seconds. */
const MAX_MERGED = 200_000;

/** Counts `entries` that are about to be merged; false when there were too many, and nothing more is merged. */
export function canMerge(projection: Projection, entries: number): boolean {
  projection.merged += entries;
  if (projection.merged <= MAX_MERGED) return true;
  projection.notes.add("Too much of the schema is merged from parts: some of it is not shown.");
  return false;
}

/** True when the budget of a projection is used up: what is left of the schema is not shown. */
export function isFull(projection: Projection): boolean {
  return projection.shown > projection.maxNodes;
}
