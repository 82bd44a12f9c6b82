import type { JsonSchema } from "../../../wire/tool.ts";
import { orNull, resultSchema } from "../tool-schemas.ts";

const text: JsonSchema = { type: "string" };
const texts: JsonSchema = { type: "array", items: text };
const flag: JsonSchema = { type: "boolean" };
const count: JsonSchema = { type: "integer" };
const list = (properties: Record<string, JsonSchema>, required: string[]): JsonSchema => ({
  type: "array",
  items: { type: "object", properties, required },
});

const INTEGRATION = {
  integration_id: text,
  name: text,
  category: text,
  summary: text,
  connected: flag,
  connection_state: orNull(text),
  capabilities: texts,
};
const ACTION = { action_id: text, title: text, description: text, side_effect_level: text };

/** What `svc.whoami` answers. */
export const WHOAMI_RESULT = resultSchema(
  { user_id: text, credential_id: text, base_url: text, connected_integrations: texts, action_count: count },
  ["user_id", "connected_integrations"],
);

/** What `svc.search` answers: the document's `{ items }` of "Catalog search items". */
export const SEARCH_RESULT = resultSchema(
  {
    items: list(
      {
        kind: text,
        integration_id: text,
        action_id: orNull(text),
        title: text,
        summary: text,
        connected: flag,
        connection_state: orNull(text),
      },
      ["kind", "integration_id"],
    ),
  },
  ["items"],
);

/** What `svc.list_integrations` answers. */
export const INTEGRATION_LIST_RESULT = resultSchema(
  { items: list(INTEGRATION, ["integration_id", "connected"]), page: count, page_size: count, total: count },
  ["items", "page", "page_size", "total"],
);

/** What `svc.get_integration` answers. */
export const INTEGRATION_RESULT = resultSchema({ ...INTEGRATION, actions: list(ACTION, ["action_id"]) }, [
  "integration_id",
  "connected",
  "actions",
]);

/** What `svc.list_actions` answers. */
export const ACTION_LIST_RESULT = resultSchema({ integration_id: text, items: list(ACTION, ["action_id"]) }, [
  "integration_id",
  "items",
]);

/** What `svc.get_action` answers: the document's "Action detail". */
export const ACTION_DETAIL_RESULT = resultSchema(
  {
    ...ACTION,
    integration_id: text,
    tool_name: text,
    idempotent: flag,
    input_schema: { type: "object" },
    input_summary: {
      type: "object",
      properties: { required: texts, optional: texts },
      required: ["required", "optional"],
    },
    requires_confirmation: flag,
    examples: { type: "array" },
    preconditions: { type: "array" },
  },
  ["action_id", "input_schema", "input_summary", "requires_confirmation", "side_effect_level"],
);
