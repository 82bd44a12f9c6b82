import type { Access } from "../access/access-view.ts";
import type { Principal } from "../auth/api-keys.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import type { JudgedOrigins } from "../seen/open-seen.ts";
import { leaveOut, ServiceError } from "../service-error.ts";
import type { ShownCall } from "./look-at-call.ts";

/**
 * True where a caller may be told what a look has found: it shows what is in the app, so that whoever may read nothing there is
 * told nothing. The owner, who decides about a held call, is shown it all the same.
 */
export async function mayTell(
  { catalog, access }: { readonly catalog: Catalog; readonly access: Pick<Access, "show"> },
  principal: Pick<Principal, "apiKeyId">,
  { integration }: CatalogEntry,
): Promise<boolean> {
  const hasRead = (entries: readonly CatalogEntry[]) => entries.some(({ action }) => action.level === "read");
  if (!hasRead(catalog.listEntries(integration.slug))) return true;
  return hasRead((await access.show(principal)).catalog.listEntries(integration.slug));
}

/** Members of a refusal that say what was found in apps. */
const FOUND = ["preview", "origins", "origins_partial"] as const;

/** The origins of a call, as members of an answer. */
export function tellOrigins(judged: JudgedOrigins | undefined) {
  if (judged === undefined) return {};
  return { origins: judged.origins, ...(judged.isPartial && { origins_partial: true as const }) };
}

/** The refusal as its caller may be told it. */
export async function tellRefusal(
  parts: Parameters<typeof mayTell>[0],
  { principal, entry }: { readonly principal: Pick<Principal, "apiKeyId">; readonly entry: CatalogEntry },
  refusal: ServiceError,
): Promise<ServiceError> {
  const { extra = {} } = refusal.options;
  const found = FOUND.filter((name) => extra[name] !== undefined);
  if (found.length === 0 || (await mayTell(parts, principal, entry))) return refusal;
  return found.reduce(leaveOut, refusal);
}

/** 412 `confirmation_required` with the preview; `reason` where another state had been shown before. */
export function refuseUnconfirmed(
  { action, ruled, raised }: CatalogEntry,
  looked?: ShownCall,
  reason?: string,
): ServiceError {
  const why = ruled === "ask" ? ": its owner wants to be asked" : raised === undefined ? "" : `: it ${raised.says}`;
  const said =
    reason === undefined
      ? `"${action.title}" needs the approval of a human${why}.`
      : `What "${action.title}" acts on was changed after it was shown. Nothing was done: a human has to look again.`;
  const { preview, failure, judged } = looked ?? {};
  return new ServiceError(412, "confirmation_required", said, {
    type: "confirmation",
    hint: "Show the human the tool and its final arguments; after approval send the same call with `confirmed` true.",
    extra: {
      ...(raised !== undefined && { call_level: raised }),
      ...(preview !== undefined && { preview }),
      ...(failure !== undefined && { preview_failed: true }),
      ...tellOrigins(judged),
      ...(reason !== undefined && { reason }),
    },
  });
}

/** 404 `preview_unavailable`, with the origins of the values all the same. */
export function noPreview({ action }: CatalogEntry, judged?: JudgedOrigins): ServiceError {
  return new ServiceError(404, "preview_unavailable", `"${action.title}" cannot say before what it will do.`, {
    type: "preview",
    hint: "Show the human the tool and its final arguments instead.",
    extra: tellOrigins(judged),
  });
}
