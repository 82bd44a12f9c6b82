import { appStopped } from "../../apps/port/create-added-integration.ts";
import type { Integration } from "../../apps/port/integration.ts";
import { shortenText } from "../../shared/base/text.ts";
import { ServiceError } from "../service-error.ts";
import type { Catalog } from "./catalog.ts";

/** Most characters of the requested name that a refusal repeats. */
const MAX_ASKED = 80;

const MAX_NAMED = 5;

/** The refusal of an unknown integration id, with the nearest ones. */
function integrationNotFound(catalog: Catalog, asked: string): ServiceError {
  const near = catalog.searchIntegrations(asked).slice(0, MAX_NAMED);
  const slugs = near.map(({ slug }) => slug);
  return new ServiceError(404, "integration_not_found", `There is no integration "${shortenText(asked, MAX_ASKED)}".`, {
    type: "validation",
    ...(slugs.length > 0 && { details: slugs }),
    hint:
      slugs.length > 0
        ? `Did you mean ${slugs.join(", ")}? GET /api/integrations lists all.`
        : "Find the right integration_id with GET /api/integrations.",
  });
}

/** @throws ServiceError 404 `integration_not_found`, with the nearest ones. */
export function requireIntegration(catalog: Catalog, asked: string): Integration {
  const integration = catalog.findIntegration(asked);
  if (integration === undefined) throw integrationNotFound(catalog, asked);
  return integration;
}

/** The refusal of an unknown tool name: up to three near ones, reads first. */
export function toolNotFound(catalog: Catalog, toolName: string): ServiceError {
  const names = catalog.suggest(toolName).map((entry) => entry.toolName);
  const close = names.length === 0 ? "" : ` Did you mean: ${names.map((name) => `'${name}'`).join(", ")}?`;
  return new ServiceError(404, "tool_not_found", `There is no tool with this name.${close}`, {
    type: "validation",
    details: names,
    hint:
      names.length === 0
        ? "Search for the tool: GET /api/tools/search?query=…"
        : `Retry with one of: ${names.join(", ")}.`,
  });
}

/** The refusal of an action that does not exist, or whose integration does not: with the nearest ones, reads first. */
export function actionNotFound(catalog: Catalog, integrationId: string, asked: string): ServiceError {
  const integration = catalog.findIntegration(integrationId);
  if (integration === undefined) return integrationNotFound(catalog, integrationId);
  if (integration.stopped !== undefined) return appStopped(integration);
  const { slug, name } = integration;
  const near = catalog.suggest(asked, slug).map(({ action }) => action.id);
  return new ServiceError(404, "tool_not_found", `${name} has no action "${shortenText(asked, MAX_ASKED)}".`, {
    type: "validation",
    ...(near.length > 0 && { details: near }),
    hint: `${near.length > 0 ? `Did you mean ${near.join(", ")}? ` : ""}GET /api/actions?integration_id=${slug} lists all.`,
  });
}
