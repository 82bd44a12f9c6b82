import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SvcError } from "../../shared/errors.ts";
import type { Store } from "../store/open-store.ts";
import type { SecretBox } from "./secret-box.ts";

/** Secrets that the service makes for itself and keeps encrypted. */
export type ServiceKeys = ReturnType<typeof createServiceKeys>;

/** Opens the keys of a store. `now` gives milliseconds since the epoch. */
export function createServiceKeys({ store, box, now }: { store: Store; box: SecretBox; now: () => number }) {
  async function find(name: string): Promise<string | undefined> {
    const row = await store.selectFrom("service_keys").select("value").where("name", "=", name).executeTakeFirst();
    return row?.value;
  }

  return {
    /**
     * A secret that is made with `create` on first use and kept, so that what it signed stays valid after a restart and
     * on every machine that shares the store. Of several that make it at once, the first wins. One that can no longer be
     * opened, because the secret key of the service changed, is replaced: what it signed ends with it.
     */
    async read(name: string, create: () => string): Promise<string> {
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

const SECRET_FILE = "ingest-secret";

/** The secret that signs upload tokens: made on first use, kept with mode 0600, so that tokens survive a restart. */
export async function readIngestSecret(dataDir: string): Promise<string> {
  const file = join(dataDir, SECRET_FILE);
  const kept = await readFile(file, "utf8").catch(() => "");
  if (kept.trim().length >= 43) return kept.trim();
  const secret = randomBytes(32).toString("base64url");
  await writeFile(file, `${secret}\n`, { mode: 0o600 });
  return secret;
}
