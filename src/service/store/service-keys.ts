import type { SecretBox } from "../secrets/secret-box.ts";
import type { Store } from "./open-store.ts";

/** What keys of the service are kept with. */
export interface ServiceKeyParts {
  readonly store: Store;
  /** Encrypts the keys at rest. */
  readonly box: SecretBox;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * A secret that the service makes for itself on first use and keeps, so that what it signed stays valid after a restart
 * and on every machine that shares the store. Of several that make it at once, the first wins. A key that can no longer
 * be opened, because the secret key of the service changed, is replaced: what it signed ends with it.
 */
export async function readServiceKey(
  parts: ServiceKeyParts,
  { name, create }: { name: string; create: () => string },
): Promise<string> {
  const place = `service_keys.${name}`;
  const known = await findKey(parts.store, name);
  const opened = known === undefined ? undefined : parts.box.open(known, place);
  if (opened !== undefined) return opened;
  const row = { value: parts.box.seal(create(), place), created_at: new Date(parts.now()).toISOString() };
  if (known === undefined) {
    const insert = parts.store.insertInto("service_keys").values({ name, ...row });
    await insert.onConflict((c) => c.doNothing()).execute();
  } else {
    const update = parts.store.updateTable("service_keys").set(row);
    await update.where("name", "=", name).where("value", "=", known).execute();
  }
  const kept = parts.box.open((await findKey(parts.store, name)) ?? "", place);
  if (kept === undefined) throw new Error(`The key "${name}" was written by a service with another secret key.`);
  return kept;
}

async function findKey(store: Store, name: string): Promise<string | undefined> {
  const row = await store.selectFrom("service_keys").select("value").where("name", "=", name).executeTakeFirst();
  return row?.value;
}
