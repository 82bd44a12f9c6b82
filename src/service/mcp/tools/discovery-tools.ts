import { createShelf } from "../../../shared/base/newest.ts";
import { cutText, shortenToSentence } from "../../../shared/base/text.ts";
import type { CatalogSearchItem } from "../../../shared/wire/catalog.ts";
import {
  describeAction,
  describeIntegration,
  findIntegrations,
  listActions,
  searchCatalog,
} from "../../catalog/describe-catalog.ts";
import { actionNotFound, requireIntegration } from "../../catalog/not-found.ts";
import type { McpResult, McpTool } from "../mcp-features.ts";
import { orRefuse, reads, structuredResult, type ToolParts } from "./tool-results.ts";
import { ACTION_ID, INTEGRATION_ID, objectSchema, textSchema } from "./tool-schemas.ts";

const MAX_QUERY = 500;
const SEARCH_PAGE = { byDefault: 10, max: 100 } as const;
const INTEGRATION_PAGE = { byDefault: 25, max: 100 } as const;

const CONNECTED_ONLY = { type: "boolean" };

/** The reading tools: the account, the catalog, and how an action is called. */
export function createDiscoveryTools(parts: ToolParts): McpTool[] {
  return [whoamiTool(parts), searchTool(parts), ...integrationTools(parts), ...actionTools(parts)];
}

function whoamiTool(parts: ToolParts): McpTool {
  return {
    name: "svc.whoami",
    description: "Shows the account and its connected apps.",
    inputSchema: objectSchema({}),
    annotations: reads("Show the account"),
    async call(_args, { principal }) {
      const { catalog, connections } = await parts.access.show(principal);
      const connected = new Set((await connections.list()).map((connection) => connection.integration));
      return structuredResult({
        user_id: principal.accountId,
        credential_id: principal.apiKeyId,
        base_url: parts.baseUrl,
        connected_integrations: [...connected].sort(),
        action_count: catalog.entries.length,
      });
    },
  };
}

/** Characters of all results of searches that are kept. */
const MAX_FOUND = 4 * 1024 * 1024;

function searchTool(parts: ToolParts): McpTool {
  const keep = createShelf<FoundItems>(MAX_FOUND, ({ size }) => size);
  return {
    name: "svc.search",
    description: "Finds actions and apps, best first. Start here.",
    inputSchema: objectSchema(
      {
        query: textSchema("What should be done, in a few words."),
        connected_only: CONNECTED_ONLY,
        limit: countSchema(SEARCH_PAGE),
      },
      ["query"],
    ),
    annotations: reads("Search actions"),
    async call({ query, connected_only, limit = SEARCH_PAGE.byDefault }, { principal }) {
      const { id, catalog, connections } = await parts.access.show(principal);
      const wanted = {
        query: cutText(String(query), MAX_QUERY),
        connectedOnly: connected_only === true,
        limit: Number(limit),
      };
      const found = await keep(JSON.stringify([id, wanted]), async () => {
        const items = searchCatalog(catalog, await connections.list(), wanted).map(showBriefly);
        // As text and as it is.
        return { result: structuredResult({ items }), size: 2 * JSON.stringify(items).length };
      });
      return found.result;
    },
  };
}

/** Most characters of a summary: with the names, some 60 tokens an item. */
const MAX_SUMMARY = 110;

/** An item as a model reads ten of: what it does in a sentence. */
function showBriefly({ title: _, summary = "", ...item }: CatalogSearchItem): CatalogSearchItem {
  return { ...item, summary: shortenToSentence(summary, MAX_SUMMARY) };
}

interface FoundItems {
  readonly result: McpResult;
  readonly size: number;
}

function integrationTools(parts: ToolParts): McpTool[] {
  return [
    {
      name: "svc.list_integrations",
      description: "Lists the apps, with their connection state and action ids.",
      inputSchema: objectSchema({
        query: { type: "string" },
        category: { type: "string" },
        connected_only: CONNECTED_ONLY,
        supports_action: textSchema("An action id."),
        page: { type: "integer", minimum: 1 },
        page_size: countSchema(INTEGRATION_PAGE),
      }),
      annotations: reads("List apps"),
      async call({ query, category, connected_only, supports_action, page = 1, page_size }, { principal }) {
        const { catalog, connections } = await parts.access.show(principal);
        const items = findIntegrations(catalog, await connections.list(), {
          query: readText(query),
          category: readText(category),
          connectedOnly: connected_only === true,
          supportsAction: readText(supports_action),
        });
        const size = Number(page_size ?? INTEGRATION_PAGE.byDefault);
        const start = (Number(page) - 1) * size;
        const shown = items.slice(start, start + size);
        return structuredResult({ items: shown, page, page_size: size, total: items.length });
      },
    },
    {
      name: "svc.get_integration",
      description: "Shows one app, its connection state and its actions.",
      inputSchema: objectSchema({ integration_id: INTEGRATION_ID }, ["integration_id"]),
      annotations: reads("Show an app"),
      call: ({ integration_id }, { principal }) =>
        orRefuse(async () => {
          const { catalog, connections } = await parts.access.show(principal);
          const integration = requireIntegration(catalog, String(integration_id));
          const item = describeIntegration(catalog, integration, await connections.list());
          return structuredResult({ ...item, actions: listActions(catalog, integration, undefined) });
        }),
    },
  ];
}

function actionTools(parts: ToolParts): McpTool[] {
  return [
    {
      name: "svc.list_actions",
      description: "Lists the actions of one app; those that fit an intent come first.",
      inputSchema: objectSchema({ integration_id: INTEGRATION_ID, intent: { type: "string" } }, ["integration_id"]),
      annotations: reads("List actions"),
      call: ({ integration_id, intent }, { principal }) =>
        orRefuse(async () => {
          const { catalog } = await parts.access.show(principal);
          const integration = requireIntegration(catalog, String(integration_id));
          const items = listActions(catalog, integration, readText(intent));
          return structuredResult({ integration_id: integration.slug, items });
        }),
    },
    {
      name: "svc.get_action",
      description: "Shows one action: input schema, effect, examples. Read this before svc.execute.",
      inputSchema: objectSchema({ integration_id: INTEGRATION_ID, action_id: ACTION_ID }, [
        "integration_id",
        "action_id",
      ]),
      annotations: reads("Show an action"),
      call: ({ integration_id, action_id }, { principal }) =>
        orRefuse(async () => {
          const { catalog } = await parts.access.show(principal);
          const [app, action] = [String(integration_id), String(action_id)];
          const entry = catalog.findAction(app, action);
          if (entry === undefined) throw actionNotFound(catalog, app, action);
          return structuredResult(describeAction(entry));
        }),
    },
  ];
}

function countSchema({ byDefault, max }: { byDefault: number; max: number }) {
  return { type: "integer", minimum: 1, maximum: max, default: byDefault };
}

/** The first {@link MAX_QUERY} characters. Absent and blank are the same. */
function readText(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? cutText(value, MAX_QUERY) : undefined;
}
