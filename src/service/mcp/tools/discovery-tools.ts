import { createShelf } from "../../../base/newest.ts";
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
const MAX_PAGE = 1_000_000;

const CONNECTED_ONLY = { type: "boolean", description: "Leave out apps that are not connected." };

/** The reading tools: the account, the catalog, and how an action is called. */
export function createDiscoveryTools(parts: ToolParts): McpTool[] {
  return [whoamiTool(parts), searchTool(parts), ...integrationTools(parts), ...actionTools(parts)];
}

function whoamiTool(parts: ToolParts): McpTool {
  return {
    name: "svc.whoami",
    description: "Shows the account these tools act for and which apps it has connected.",
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
    description: "Finds actions and apps by what should be done, best first. Start here.",
    inputSchema: objectSchema(
      {
        query: textSchema("What should be done, in a few words.", MAX_QUERY),
        connected_only: CONNECTED_ONLY,
        limit: countSchema("Most items to return.", SEARCH_PAGE),
      },
      ["query"],
    ),
    annotations: reads("Search actions"),
    async call({ query, connected_only, limit = SEARCH_PAGE.byDefault }, { principal }) {
      const { id, catalog, connections } = await parts.access.show(principal);
      const wanted = { query: String(query), connectedOnly: connected_only === true, limit: Number(limit) };
      const found = await keep(JSON.stringify([id, wanted]), async () => {
        const items = searchCatalog(catalog, await connections.list(), wanted);
        // As text and as it is.
        return { result: structuredResult({ items }), size: 2 * JSON.stringify(items).length };
      });
      return found.result;
    },
  };
}

interface FoundItems {
  readonly result: McpResult;
  readonly size: number;
}

function integrationTools(parts: ToolParts): McpTool[] {
  return [
    {
      name: "svc.list_integrations",
      description: "Lists the apps, with their connection state and the ids of their actions.",
      inputSchema: objectSchema({
        query: textSchema("Words to rank the apps by.", MAX_QUERY),
        category: textSchema("Only apps of this category."),
        connected_only: CONNECTED_ONLY,
        supports_action: textSchema("Only apps that have this action id."),
        page: countSchema("Page, from 1.", { byDefault: 1, max: MAX_PAGE }),
        page_size: countSchema("Apps per page.", INTEGRATION_PAGE),
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
      description: "Shows one app: what it is, whether it is connected, and its actions.",
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
      description: "Lists the actions of one app; with an intent the fitting ones come first.",
      inputSchema: objectSchema(
        { integration_id: INTEGRATION_ID, intent: textSchema("What should be done.", MAX_QUERY) },
        ["integration_id"],
      ),
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
      description:
        "Shows one action: input schema, effect, whether a human must approve it, examples. Read this before svc.execute.",
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

function countSchema(description: string, { byDefault, max }: { byDefault: number; max: number }) {
  return { type: "integer", minimum: 1, maximum: max, default: byDefault, description };
}

/** Absent and blank are the same. */
function readText(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}
