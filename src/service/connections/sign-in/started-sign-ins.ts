import { z } from "zod";
import { hashSecret, isSameHash } from "../../auth/secrets.ts";
import type { SecretBox } from "../../secrets/secret-box.ts";
import { ServiceError } from "../../service-error.ts";
import type { Store } from "../../store/open-store.ts";
import { clientSchema, type KnownProvider, knownProviderSchema } from "./sign-in-record.ts";

/** How long the owner may take at the provider, milliseconds. */
const LIFETIME_MS = 15 * 60_000;

const wantedSchema = z.object({
  slug: z.string(),
  /** The connection that is signed in again; undefined for a new one. */
  connectionId: z.string().optional(),
  form: z.object({
    label: z.string(),
    access: z.enum(["read", "full"]),
    isDefault: z.boolean().optional(),
    values: z.record(z.string(), z.string()),
  }),
});
const startedSchema = z.object({
  wanted: wantedSchema,
  /** SHA-256 of a secret of the browser that began. */
  browser: z.string(),
  app: z.string(),
  verifier: z.string(),
  /** Without a client until the owner has named one. */
  provider: knownProviderSchema.extend({ client: clientSchema.optional() }),
  flow: z.enum(["code", "client", "device"]),
  scopes: z.array(z.string()),
  /** Those of the scopes that the app asked for beside its plan. */
  wantedScopes: z.array(z.string()),
  params: z.record(z.string(), z.string()),
  keepsRefreshTokens: z.boolean(),
  /** Address that the token goes to. */
  sentTo: z.string().optional(),
  /** The sign-in that the connection has so far. */
  before: z.string().optional(),
  device: z.object({ code: z.string(), intervalSeconds: z.number(), nextAt: z.number() }).optional(),
});
/** A sign-in that has begun. */
export type StartedSignIn = z.output<typeof startedSchema>;
/** One of which it is known who we are to the provider. */
export type ReadySignIn = StartedSignIn & { readonly provider: KnownProvider };

/** The connection that the owner asks for. */
export type WantedConnection = z.output<typeof wantedSchema>;

/** True when the provider knows us as a client. */
export function isReady(started: StartedSignIn): started is ReadySignIn {
  return started.provider.client !== undefined;
}

/** Sign-ins that have begun, by state. */
export function createStartedSignIns({ store, box, now }: { store: Store; box: SecretBox; now: () => number }) {
  const placeOf = (hash: string) => `provider_sign_ins.${hash}`;
  return {
    async put(state: string, started: StartedSignIn): Promise<undefined> {
      const hash = hashSecret(state);
      const details = box.seal(JSON.stringify(started), placeOf(hash));
      const expires_at = new Date(now() + LIFETIME_MS).toISOString();
      await store.insertInto("provider_sign_ins").values({ state_hash: hash, details, expires_at }).execute();
    },

    /** Takes it away, so that it counts once. Throws ServiceError 409 when there is none of this browser. */
    async take(state: string, browser: string): Promise<StartedSignIn> {
      const hash = hashSecret(state);
      const row = await store
        .deleteFrom("provider_sign_ins")
        .where("state_hash", "=", hash)
        .returningAll()
        .executeTakeFirst();
      if (row === undefined || row.expires_at <= new Date(now()).toISOString()) throw unknownSignIn();
      const opened = box.open(row.details, placeOf(hash));
      const started = opened === undefined ? undefined : startedSchema.parse(JSON.parse(opened));
      if (started === undefined || !isSameHash(started.browser, hashSecret(browser))) throw unknownSignIn();
      return started;
    },
  };
}

/** There is no such sign-in of this browser, or not any more. */
export function unknownSignIn(): ServiceError {
  const message =
    "This sign-in was not begun in this browser, is over, or took too long. Begin again on the connections page.";
  return new ServiceError(409, "conflict", message);
}
