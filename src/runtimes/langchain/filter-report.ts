import type { ToolCatalog } from "../../tools/catalog.ts";
import { atLeast, checkChoices, checkNumbers } from "../../tools/check-settings.ts";
import type { SessionEvent } from "../../tools/session-events.ts";
import type { ToolFilter } from "./toolkit-options.ts";

/** What a filter names and the toolkit does not know. */
export type MissingTools = Extract<SessionEvent, { type: "tools_not_found" }>;

const LEVELS: readonly string[] = ["read", "write", "delete", "admin", "unknown"];

/**
 * Refuses a filter that cannot be meant.
 *
 * @throws SvcError `invalid_config` naming the member
 */
export function checkFilter(filter: ToolFilter): void {
  checkNumbers(filter, { limit: atLeast(1) });
  for (const levels of filter.levels ?? []) checkChoices({ levels }, { levels: LEVELS });
}

/** Names and apps of a filter that are not known: a slip, or an app that this user has not connected. */
export function findMissing(catalog: ToolCatalog, filter: ToolFilter): MissingTools | undefined {
  const apps = new Set(catalog.list().map(({ integration }) => integration));
  const tools = (filter.tools ?? []).filter((name) => catalog.peek(name) === undefined);
  const integrations = (filter.integrations ?? []).filter((slug) => !apps.has(slug));
  return tools.length + integrations.length === 0 ? undefined : { type: "tools_not_found", tools, integrations };
}

/** The same as one sentence. */
export function describeMissing({ tools, integrations }: MissingTools): string {
  const names = [
    ...tools.map((name) => `the tool ${JSON.stringify(name)}`),
    ...integrations.map((slug) => `the app ${JSON.stringify(slug)}`),
  ];
  return `Asked for, but not known to the service: ${names.join(", ")}.`;
}
