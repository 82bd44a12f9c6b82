import type { ActionDetail, ActionItem, IntegrationItem } from "../wire/catalog.ts";
import type { Tool, ToolList } from "../wire/tool.ts";

/** The tool name of an action ("Tool": the action id prefixed by the integration slug and an underscore). */
export function nameTool(integration: string, actionId: string): string {
  return `${integration}_${actionId}`;
}

/** An action of a list as the tool it is, in the form of `GET /api/tools`. */
export function toListedTool(integration: string, action: ActionItem): Tool {
  const { action_id, title, description, side_effect_level } = action;
  return {
    integration,
    name: nameTool(integration, action_id),
    description,
    inputSchema: null,
    canonical: { integration_id: integration, action: { action_id, title, side_effect_level } },
  };
}

/** An action's detail as the tool it is, in the form of `GET /api/tools/{name}`. */
export function toDescribedTool(integration: string, detail: ActionDetail): Tool {
  const { action_id, title, description, side_effect_level, requires_confirmation } = detail;
  return {
    integration,
    name: nameTool(integration, action_id),
    description,
    inputSchema: detail.input_schema,
    requiresConfirmation: requires_confirmation,
    canonical: { integration_id: integration, action: { action_id, title, side_effect_level, requires_confirmation } },
    examples: detail.examples,
    preconditions: detail.preconditions,
  };
}

/** A page of tools. `total` counts the ones that were left out too. */
export function toToolList(
  tools: readonly Tool[],
  { limit, total, integration }: { limit: number; total: number; integration: string | null },
): ToolList {
  const page = tools.slice(0, limit);
  return { tools: page, count: page.length, total, truncated: total > page.length, integration };
}

/** Integrations whose tools could have this name, the longest slug first: a name alone does not tell. */
export function findOwners(items: readonly IntegrationItem[], toolName: string): string[] {
  return items
    .map(({ integration_id: slug }) => slug)
    .filter((slug) => toolName.startsWith(`${slug}_`))
    .sort((a, b) => b.length - a.length);
}
