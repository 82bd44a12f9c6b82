import type { Integration } from "../integrations/integration.ts";
import type { Connection } from "./connections.ts";

/** How much a connection may do: only what reading actions need, or everything the integration offers. */
export type Access = "read" | "full";

/** Scopes that the reading actions of an integration need. */
function listReadScopes({ actions }: Integration): string[] {
  return [...new Set(actions.filter((action) => action.level === "read").flatMap((action) => action.scopes))];
}

/** False where reading alone is nothing, or all there is. */
export function offersReadOnly(integration: Integration): boolean {
  const read = new Set(listReadScopes(integration));
  return read.size > 0 && integration.scopes.some((scope) => !read.has(scope));
}

/** The scopes of an access. */
export function listScopes(integration: Integration, access: Access): readonly string[] {
  return access === "read" && offersReadOnly(integration) ? listReadScopes(integration) : integration.scopes;
}

/** A scope that was not granted and the actions that cannot run without it. */
export interface MissingScope {
  readonly scope: string;
  /** Titles of actions. */
  readonly neededBy: readonly string[];
}

/** What a connection was not granted, in the integration's order. */
export function listMissingScopes(integration: Integration, connection: Connection): MissingScope[] {
  return integration.scopes
    .filter((scope) => !connection.scopes.includes(scope))
    .map((scope) => ({
      scope,
      neededBy: integration.actions.filter((action) => action.scopes.includes(scope)).map((action) => action.title),
    }));
}
