import type { CollectionStore } from "../collections/collection-store.ts";
import type { ConnectionView } from "../port/integration.ts";

/** Addresses of the account, in lower case: the one of its settings, and those that its server knows. */
export async function listAccountAddresses(
  store: Pick<CollectionStore, "listOwnAddresses">,
  { settings: { address } }: Pick<ConnectionView, "settings">,
): Promise<ReadonlySet<string>> {
  const known = await store.listOwnAddresses();
  return new Set([...(typeof address === "string" ? [address] : []), ...known].map((one) => one.trim().toLowerCase()));
}
