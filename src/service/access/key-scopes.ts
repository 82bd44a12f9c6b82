import { z } from "zod";
import type { Integration } from "../../apps/port/integration.ts";
import { type KeyScopes, keyScopesSchema } from "../../shared/wire/key-scopes.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import { matchesTool, toolPatternSchema } from "./tool-patterns.ts";

/** A stranger chooses these, and the owner reads them. */
const namesSchema = z.array(z.string().regex(/^[\w. -]{1,100}$/, "is no name of an app or account"));

/** As sent by a program or a form: a member that nobody knows would leave the key larger than was meant. */
const strictSchema = z.strictObject({
  ...keyScopesSchema.shape,
  integrations: namesSchema.min(1).max(200).optional(),
  connections: namesSchema.min(1).max(200).optional(),
  tools: z.array(toolPatternSchema).min(1).max(200).optional(),
});

/** The scopes, or the first problem as a sentence about `scopes`. */
export function readKeyScopes(sent: unknown): KeyScopes | string {
  const read = strictSchema.safeParse(sent);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  if (issue?.code === "unrecognized_keys") {
    return `\`scopes.${issue.keys[0]}\` is unknown; scopes have: ${Object.keys(strictSchema.shape).join(", ")}.`;
  }
  return `\`${["scopes", ...(issue?.path ?? [])].join(".")}\`: ${issue?.message ?? "is not valid"}`;
}

/** True for scopes that leave out a tool or an account. */
export function hasLimits({ integrations, levels, tools, connections }: KeyScopes): boolean {
  return [integrations, levels, tools, connections].some((limit) => limit !== undefined);
}

/** Apps and tools that scopes allow; an unknown name allows nothing. */
export interface ScopeFilter {
  app(integration: Integration): boolean;
  tool(entry: CatalogEntry): boolean;
}

/** @param connected slugs of the apps with an allowed account; undefined where accounts are not limited */
export function createScopeFilter(
  { integrations, levels, tools }: KeyScopes,
  connected: ReadonlySet<string> | undefined,
): ScopeFilter {
  const app = ({ slug }: Integration) =>
    (integrations?.includes(slug) ?? true) && (connected === undefined || connected.has(slug));
  return {
    // An app that cannot be used at the moment has no tool that a pattern could mean.
    app: (integration) => app(integration) && tools === undefined,
    tool: (entry) =>
      app(entry.integration) &&
      (levels?.includes(entry.action.level) ?? true) &&
      (tools?.some((pattern) => matchesTool(pattern, entry, "narrow")) ?? true),
  };
}

/** True when `chosen` lets a key do anything that `asked` does not. */
export function exceeds(chosen: KeyScopes, asked: KeyScopes): boolean {
  const isWider = (of: "integrations" | "levels" | "tools" | "connections") => {
    const [limit, own]: (readonly string[] | undefined)[] = [asked[of], chosen[of]];
    return limit !== undefined && (own === undefined || own.some((name) => !limit.includes(name)));
  };
  const { expiresInDays: days = Number.POSITIVE_INFINITY } = chosen;
  return (
    (["integrations", "levels", "tools", "connections"] as const).some(isWider) ||
    days > (asked.expiresInDays ?? Number.POSITIVE_INFINITY) ||
    (asked.approvals === "owner" && chosen.approvals !== "owner")
  );
}
