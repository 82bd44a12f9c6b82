import { accessRules } from "./rules/access.ts";
import { canonicalRules } from "./rules/canonical.ts";
import { decisionRules } from "./rules/decisions.ts";
import { errorAndLimitRules } from "./rules/errors-and-limits.ts";
import { fileRules } from "./rules/files.ts";
import { flowRules } from "./rules/flows.ts";
import { mcpAndBootstrapRules } from "./rules/mcp-and-bootstrap.ts";
import { resourceRules } from "./rules/resources.ts";
import type { PlannedStorey, RuleGroup, RuleSide } from "./rules/rule.ts";
import { toolEndpointRules } from "./rules/tool-endpoints.ts";

/** One rule of the API document, or one decision where the document says "not shown". */
export interface Requirement {
  readonly id: string;
  /** Heading path in the document. */
  readonly section: string;
  readonly text: string;
  readonly by: RuleSide;
  readonly planned?: PlannedStorey;
}

const GROUPS: readonly RuleGroup[] = [
  ...resourceRules,
  ...toolEndpointRules,
  ...fileRules,
  ...accessRules,
  ...errorAndLimitRules,
  ...canonicalRules,
  ...flowRules,
  ...mcpAndBootstrapRules,
  ...decisionRules,
];

/** Every rule of the document. Tests cite ids with `verifies`; `coverage.test.ts` finds rules that nobody shows. */
export const REQUIREMENTS: readonly Requirement[] = GROUPS.flatMap(({ section, by, planned, rules }) =>
  Object.entries(rules).map(([id, text]) => ({ id, section, text, by, ...(planned === undefined ? {} : { planned }) })),
);
