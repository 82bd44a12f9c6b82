import { SvcError } from "../../errors.ts";
import type { Store } from "../store/open-store.ts";
import type { SecretBox } from "./secret-box.ts";

const NAME = "secret-key-check";
const PLACE = `service_keys.${NAME}`;

/**
 * Makes sure that every process on a shared store encrypts with the same key: the first leaves a value that only its key
 * opens. To be called in the turn of one start.
 *
 * @throws SvcError `invalid_config`, field `secretKey`, when this process has another key.
 */
export async function checkSharedKey(store: Store, box: SecretBox, now: number): Promise<void> {
  const known = await store.selectFrom("service_keys").select("value").where("name", "=", NAME).executeTakeFirst();
  if (known === undefined) {
    const row = { name: NAME, value: box.seal(NAME, PLACE), created_at: new Date(now).toISOString() };
    await store.insertInto("service_keys").values(row).execute();
  } else if (box.open(known.value, PLACE) !== NAME) {
    throw new SvcError("invalid_config", "The secrets in this database were encrypted with another key than mine.", {
      field: "secretKey",
      hint: 'Give every process on this database the same `secretKey` (environment: SVC_SECRET), or copy "connection-secrets.key" from the data folder of the process that made the database.',
    });
  }
}
