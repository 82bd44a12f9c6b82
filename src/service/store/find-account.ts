import { createId } from "../auth/secrets.ts";
import type { Store } from "./open-store.ts";

/** The owner's account, made on the first start. */
export async function findAccount(store: Store, now: () => number): Promise<{ id: string; isNew: boolean }> {
  const known = await store.selectFrom("accounts").select("id").orderBy("created_at").executeTakeFirst();
  if (known !== undefined) return { id: known.id, isNew: false };
  const id = createId("acc");
  await store
    .insertInto("accounts")
    .values({ id, created_at: new Date(now()).toISOString() })
    .execute();
  return { id, isNew: true };
}
