import { z } from "zod";
import { readableItems, sentSchemaSchema } from "./tool.ts";

/** Values of `side_effect_level` ("Action detail"), from the least to the most. */
export const SIDE_EFFECT_LEVELS = ["read", "write", "delete", "admin"] as const;
export const sideEffectLevelSchema = z.enum(SIDE_EFFECT_LEVELS);
export type SideEffectLevel = z.infer<typeof sideEffectLevelSchema>;

/** State of one connection, as `connection_state` names it. */
export type ConnectionState = "healthy" | "reauth_required" | "error";

/** "Integration item (`GET /api/integrations`)". */
export const integrationItemSchema = z.looseObject({
  integration_id: z.string(),
  name: z.string().optional().catch(undefined),
  connected: z.boolean().optional().catch(undefined),
  connection_state: z.string().nullish(),
  /** Why nothing of the app can be used; not in the document. */
  problem: z.string().optional().catch(undefined),
  capabilities: z.array(z.string()).optional().catch(undefined),
});
export type IntegrationItem = z.infer<typeof integrationItemSchema>;

/** Answer of `GET /api/integrations`. */
export const integrationPageSchema = z.looseObject({
  items: readableItems(integrationItemSchema),
  page: z.int().optional().catch(undefined),
  page_size: z.int().optional().catch(undefined),
  total: z.int().optional().catch(undefined),
});
export type IntegrationPage = z.infer<typeof integrationPageSchema>;

/** Item of `GET /api/actions`. */
export const actionItemSchema = z.looseObject({
  action_id: z.string(),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  side_effect_level: z.string().optional(),
});
export type ActionItem = z.infer<typeof actionItemSchema>;

/** Answer of `GET /api/actions`. */
export const actionListSchema = z.looseObject({ integration_id: z.string(), items: readableItems(actionItemSchema) });
export type ActionList = z.infer<typeof actionListSchema>;

/** "Action detail (`GET /api/actions/{integration_id}/{action_id}`)". Its level is known however odd the rest is. */
export const actionDetailSchema = actionItemSchema.extend({
  input_schema: sentSchemaSchema.catch(null),
  input_summary: z
    .looseObject({ required: z.array(z.string()).optional(), optional: z.array(z.string()).optional() })
    .optional()
    .catch(undefined),
  /** A boolean as documented; readers must judge other values themselves. */
  requires_confirmation: z.unknown().optional(),
  examples: z.array(z.unknown()).optional().catch(undefined),
  preconditions: z.array(z.unknown()).optional().catch(undefined),
});
export type ActionDetail = z.infer<typeof actionDetailSchema>;

/** "Catalog search item (`GET /api/search`)". */
export const catalogSearchItemSchema = z.looseObject({
  kind: z.string(),
  integration_id: z.string(),
  action_id: z.string().nullish(),
  title: z.string().optional(),
  summary: z.string().optional(),
  connected: z.boolean().optional(),
  connection_state: z.string().nullish(),
});
export type CatalogSearchItem = z.infer<typeof catalogSearchItemSchema>;

/** Answer of `GET /api/search`. */
export const catalogSearchSchema = z.looseObject({ items: readableItems(catalogSearchItemSchema) });
export type CatalogSearch = z.infer<typeof catalogSearchSchema>;

/** Query of `GET /api/integrations`. */
export interface IntegrationQuery {
  readonly query?: string | undefined;
  readonly category?: string | undefined;
  readonly connected_only?: boolean | undefined;
  readonly supports_action?: string | undefined;
  readonly page?: number | undefined;
  readonly page_size?: number | undefined;
}

/** Query of `GET /api/actions`. */
export interface ActionQuery {
  readonly integration_id: string;
  readonly intent?: string | undefined;
}

/** Query of `GET /api/search`. */
export interface CatalogSearchQuery {
  readonly query: string;
  readonly connected_only?: boolean | undefined;
}
