import { shortenToSentence } from "../../../shared/base/text.ts";
import { keepWithin, MAX_OFFERED } from "../../../shared/base/tool-budget.ts";
import { SHOWN_BY_APP } from "../../../shared/wire/mcp-app.ts";
import { type CatalogEntry, levelOf, needsConfirmation } from "../../catalog/catalog-entry.ts";
import type { McpTool } from "../mcp-features.ts";
import { executeAction } from "./execution-tools.ts";
import { orRefuse, type ToolParts } from "./tool-results.ts";

/** Names that every model provider takes; an action of another name is found by search. */
const LEGAL = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
const MAX_DESCRIPTION = 1_024;

/**
 * The actions that a caller sees as tools under their full names, while a model reads all of them within so many tokens; else
 * none. A call is one of `svc.execute`: what changes something is put before the same human.
 */
export async function createActionTools(
  parts: ToolParts,
  principal: { readonly apiKeyId: string },
  maxToolTokens: number,
): Promise<McpTool[]> {
  const { catalog } = await parts.access.show(principal);
  if (catalog.entries.length > MAX_OFFERED) return [];
  const legal = catalog.entries.filter(({ toolName }) => LEGAL.test(toolName)).map((entry) => showAction(entry));
  return keepWithin(legal, maxToolTokens).map(({ entry, schema, ...tool }) => ({
    ...tool,
    inputSchema: { ...schema, type: "object" },
    checksItself: true,
    call: (input, call) => {
      const { integration, action } = entry;
      const named = { integrationId: integration.slug, actionId: action.id, connectionId: undefined };
      const asked = { ...named, input, confirm: false, idempotencyKey: undefined };
      return orRefuse(() => executeAction(parts, asked, call));
    },
  }));
}

function showAction(entry: CatalogEntry) {
  const { toolName, action } = entry;
  const isRead = levelOf(entry) === "read" && !needsConfirmation(entry);
  const hints = isRead ? {} : { destructiveHint: levelOf(entry) !== "write", idempotentHint: action.idempotent };
  return {
    entry,
    name: toolName,
    description: shortenToSentence(action.description, MAX_DESCRIPTION),
    schema: action.inputSchema,
    annotations: { title: action.title, readOnlyHint: isRead, openWorldHint: true, ...hints },
    ...(isRead ? {} : { _meta: SHOWN_BY_APP }),
  };
}
