import type { Integration } from "../integrations/integration.ts";
import { ServiceError } from "../service-error.ts";
import { shortenText } from "../shorten-text.ts";
import type { Catalog } from "./catalog.ts";

/** Characters of what was asked for that are repeated. */
const MAX_ASKED = 80;

const MAX_NAMED = 5;

/** The refusal of an integration id that nothing answers to, with the nearest ones. */
export function integrationNotFound(catalog: Catalog, asked: string): ServiceError {
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

/** The refusal of an action id that an integration does not have, with the nearest ones, reads first. */
export function actionNotFound(catalog: Catalog, { slug, name }: Integration, asked: string): ServiceError {
  const near = catalog.suggest(asked, slug).map(({ action }) => action.id);
  return new ServiceError(404, "tool_not_found", `${name} has no action "${shortenText(asked, MAX_ASKED)}".`, {
    type: "validation",
    ...(near.length > 0 && { details: near }),
    hint: `${near.length > 0 ? `Did you mean ${near.join(", ")}? ` : ""}GET /api/actions?integration_id=${slug} lists all.`,
  });
}
