/** Which half of this package a rule binds. */
export type RuleSide = "service" | "plugin" | "both";

/** The later storey of the house that brings a rule; a rule without it holds today. */
export type PlannedStorey = "B" | "C" | "D";

/** Rules that share a place in the document and a side. The keys of `rules` are the ids, the values one sentence each. */
export interface RuleGroup {
  /** Heading path in the document, e.g. `Endpoints > Discovery`. */
  readonly section: string;
  readonly by: RuleSide;
  readonly planned?: PlannedStorey;
  readonly rules: Readonly<Record<string, string>>;
}
