import { z } from "zod";
import { parseJson } from "../../shared/base/json.ts";
import { createSecret, hashSecret, isSameHash } from "../auth/secrets.ts";
import type { SecretBox } from "../secrets/secret-box.ts";
import type { Store } from "../store/open-store.ts";

/** How long typed secrets are kept, milliseconds. */
const LIFETIME_MS = 10 * 60_000;

const keptSchema = z.object({ browser: z.string(), form: z.string(), secrets: z.record(z.string(), z.string()) });

/** Whose secrets: a browser, by something that it alone has, and the address of the form they were typed into. */
interface Place {
  readonly browser: string;
  readonly form: string;
}

/** Secrets that were typed into a form with another mistake, so that nobody types them twice. */
export type KeptSecrets = ReturnType<typeof createKeptSecrets>;

/** Creates the kept secrets of a store: encrypted, for ten minutes, each taken once. `now` gives milliseconds since the epoch. */
export function createKeptSecrets({ store, box, now }: { store: Store; box: SecretBox; now: () => number }) {
  const nameRow = (token: string) => hashSecret(`form ${token}`);
  return {
    /** Keeps secrets by the names of their settings. The token that stands for them says nothing about them. */
    async keep({ browser, form }: Place, secrets: Readonly<Record<string, string>>): Promise<string> {
      const token = createSecret();
      const state_hash = nameRow(token);
      const details = box.seal(JSON.stringify({ browser: hashSecret(browser), form, secrets }), state_hash);
      const expires_at = new Date(now() + LIFETIME_MS).toISOString();
      await store.insertInto("provider_sign_ins").values({ state_hash, details, expires_at }).execute();
      return token;
    },

    /** Takes them away; none for another browser or form, and once they have expired. */
    async take(token: string, { browser, form }: Place): Promise<Readonly<Record<string, string>>> {
      const hash = nameRow(token);
      const row = await store
        .deleteFrom("provider_sign_ins")
        .where("state_hash", "=", hash)
        .returningAll()
        .executeTakeFirst();
      if (row === undefined || row.expires_at <= new Date(now()).toISOString()) return {};
      const kept = keptSchema.safeParse(parseJson(box.open(row.details, hash) ?? "")).data;
      const isTheirs = kept?.form === form && isSameHash(kept.browser, hashSecret(browser));
      return isTheirs ? kept.secrets : {};
    },
  };
}
