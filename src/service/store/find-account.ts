import type { Store } from "./open-store.ts";

/** Id of the owner's account; undefined before the first start is complete. */
export async function findAccount(store: Store): Promise<string | undefined> {
  const account = await store.selectFrom("accounts").select("id").orderBy("created_at").executeTakeFirst();
  return account?.id;
}
