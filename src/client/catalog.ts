import {
  type ActionDetail,
  type ActionList,
  actionDetailSchema,
  actionListSchema,
  type CatalogSearch,
  catalogSearchSchema,
  type IntegrationPage,
  integrationPageSchema,
} from "../wire/catalog.ts";
import { readResource } from "./reply.ts";
import { type CallOptions, encodeSegment, type Transport } from "./transport.ts";

/** Query of `GET /api/integrations`; names are spelled as on the wire. */
export interface ListIntegrationsQuery {
  readonly query?: string | undefined;
  readonly category?: string | undefined;
  readonly connected_only?: boolean | undefined;
  readonly supports_action?: string | undefined;
  readonly page?: number | undefined;
  readonly page_size?: number | undefined;
}

/** Query of `GET /api/actions`; `intent` ranks the actions. */
export interface ListActionsQuery {
  readonly integration_id: string;
  readonly intent?: string | undefined;
}

/** Query of `GET /api/search`. */
export interface SearchCatalogQuery {
  readonly query: string;
  readonly connected_only?: boolean | undefined;
}

/** `GET /api/integrations`. */
export async function listIntegrations(
  transport: Transport,
  query: ListIntegrationsQuery,
  options?: CallOptions,
): Promise<IntegrationPage> {
  const reply = await transport.call({ method: "GET", path: "/api/integrations", query: { ...query }, options });
  return readResource(reply, integrationPageSchema);
}

/** `GET /api/actions`. */
export async function listActions(
  transport: Transport,
  query: ListActionsQuery,
  options?: CallOptions,
): Promise<ActionList> {
  const reply = await transport.call({ method: "GET", path: "/api/actions", query: { ...query }, options });
  return readResource(reply, actionListSchema);
}

/** `GET /api/actions/{integration_id}/{action_id}`. */
export async function getAction(
  transport: Transport,
  action: { readonly integrationId: string; readonly actionId: string },
  options?: CallOptions,
): Promise<ActionDetail> {
  const integration = encodeSegment(action.integrationId, "integrationId");
  const path = `/api/actions/${integration}/${encodeSegment(action.actionId, "actionId")}`;
  return readResource(await transport.call({ method: "GET", path, options }), actionDetailSchema);
}

/** `GET /api/search`. */
export async function searchCatalog(
  transport: Transport,
  query: SearchCatalogQuery,
  options?: CallOptions,
): Promise<CatalogSearch> {
  const reply = await transport.call({ method: "GET", path: "/api/search", query: { ...query }, options });
  return readResource(reply, catalogSearchSchema);
}
