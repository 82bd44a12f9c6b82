import type { ToolCatalog } from "./catalog.ts";

/**
 * Sentence for the description of svc_search_tools when a model is given `listed` tools and the service has more; empty
 * when it has all of them.
 */
export function describeUnlisted({ size, report }: Pick<ToolCatalog, "size" | "report">, listed: number): string {
  const omitted = (report?.omitted ?? []).reduce((sum, { count }) => sum + count, 0);
  const count = size - listed + omitted;
  return count === 0 ? "" : ` ${count} tools are not in your tool list and are found only this way.`;
}
