import type { Access } from "../access/access-view.ts";
import type { Principal } from "../auth/api-keys.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import { leaveOut, ServiceError } from "../service-error.ts";
import type { Looked } from "./preview-call.ts";

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

/** The refusal as its caller may be told it. */
export async function tellRefusal(
  parts: Parameters<typeof mayTell>[0],
  { principal, entry }: { readonly principal: Pick<Principal, "apiKeyId">; readonly entry: CatalogEntry },
  refusal: ServiceError,
): Promise<ServiceError> {
  const hasPreview = refusal.options.extra?.preview !== undefined;
  return hasPreview && !(await mayTell(parts, principal, entry)) ? leaveOut(refusal, "preview") : refusal;
}

/** 412 `confirmation_required` with the preview; `reason` where another state had been shown before. */
export function refuseUnconfirmed(
  { action, ruled, raised }: CatalogEntry,
  looked?: Looked,
  reason?: string,
): ServiceError {
  const why = ruled === "ask" ? ": its owner wants to be asked" : raised === undefined ? "" : `: it ${raised.says}`;
  const said =
    reason === undefined
      ? `"${action.title}" needs the approval of a human${why}.`
      : `What "${action.title}" acts on was changed after it was shown. Nothing was done: a human has to look again.`;
  const { preview, failure } = looked ?? {};
  return new ServiceError(412, "confirmation_required", said, {
    type: "confirmation",
    hint: "Show the human the tool and its final arguments; after approval send the same call with `confirmed` true.",
    extra: {
      ...(raised !== undefined && { call_level: raised }),
      ...(preview !== undefined && { preview }),
      ...(failure !== undefined && { preview_failed: true }),
      ...(reason !== undefined && { reason }),
    },
  });
}

/** 404 `preview_unavailable`. */
export function noPreview({ action }: CatalogEntry): ServiceError {
  return new ServiceError(404, "preview_unavailable", `"${action.title}" cannot say before what it will do.`, {
    type: "preview",
    hint: "Show the human the tool and its final arguments instead.",
  });
}
