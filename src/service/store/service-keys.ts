import type { SecretBox } from "../secrets/secret-box.ts";
import type { Store } from "./open-store.ts";

/** Secrets that the service makes for itself and keeps encrypted. */
export interface ServiceKeys {
  /**
   * A secret that is made with `create` on first use and kept, so that what it signed stays valid after a restart and on
   * every machine that shares the store. Of several that make it at once, the first wins. One that can no longer be
   * opened, because the secret key of the service changed, is replaced: what it signed ends with it.
   */
  read(name: string, create: () => string): Promise<string>;
}

/** Opens the keys of a store. `now` gives milliseconds since the epoch. */
export function createServiceKeys({
  store,
  box,
  now,
}: {
  store: Store;
  box: SecretBox;
  now: () => number;
}): ServiceKeys {
  async function find(name: string): Promise<string | undefined> {
    const row = await store.selectFrom("service_keys").select("value").where("name", "=", name).executeTakeFirst();
    return row?.value;
  }

  return {
    async read(name, create) {
      const place = `service_keys.${name}`;
      const known = await find(name);
      const opened = known === undefined ? undefined : box.open(known, place);
      if (opened !== undefined) return opened;
      const row = { value: box.seal(create(), place), created_at: new Date(now()).toISOString() };
      if (known === undefined) {
        const insert = store.insertInto("service_keys").values({ name, ...row });
        await insert.onConflict((c) => c.doNothing()).execute();
      } else {
        const update = store.updateTable("service_keys").set(row);
        await update.where("name", "=", name).where("value", "=", known).execute();
      }
      const kept = box.open((await find(name)) ?? "", place);
      if (kept === undefined) throw new Error(`The key "${name}" was written by a service with another secret key.`);
      return kept;
    },
  };
}
