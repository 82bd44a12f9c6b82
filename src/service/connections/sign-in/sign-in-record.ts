import { z } from "zod";
import { createTurns } from "../../../shared/base/concurrency.ts";
import type { SecretBox } from "../../secrets/secret-box.ts";
import { inTurnOf, type Store } from "../../store/open-store.ts";

const texts = z.array(z.string()).optional().catch(undefined);
const address = z
  .url({ protocol: /^https?$/ })
  .optional()
  .catch(undefined);

/** Metadata of a sign-in provider (RFC 8414) as far as it is used. */
export const serverSchema = z.object({
  issuer: z.string(),
  authorization_endpoint: address,
  token_endpoint: address,
  registration_endpoint: address,
  revocation_endpoint: address,
  device_authorization_endpoint: address,
  token_endpoint_auth_methods_supported: texts,
  id_token_signing_alg_values_supported: texts,
  code_challenge_methods_supported: texts,
  scopes_supported: texts,
  authorization_response_iss_parameter_supported: z.boolean().optional().catch(undefined),
  client_id_metadata_document_supported: z.boolean().optional().catch(undefined),
});
export type ProviderServer = z.output<typeof serverSchema>;

/** Who this service is to a provider. */
export const clientSchema = z.object({
  clientId: z.string().min(1),
  clientSecret: z.string().min(1).optional(),
  /** How it proves itself; undefined: as the provider's metadata say, else first in the header and then in the body. */
  authMethod: z.enum(["none", "client_secret_basic", "client_secret_post"]).optional(),
  /** True when the provider gave it to us by dynamic registration. */
  isRegistered: z.boolean().default(false),
  /** Where the provider leads back to. Default: the address that all clients named by the owner share. */
  redirectUri: z.string().optional(),
});
export type ProviderClient = z.output<typeof clientSchema>;

/** All that is needed to ask a provider for tokens. */
export const knownProviderSchema = z.object({
  /** For people. */
  name: z.string(),
  server: serverSchema,
  /** False when `server.issuer` is made up from the address for tokens. */
  hasIssuer: z.boolean(),
  /** Sent with each request for tokens (RFC 8707). */
  resource: z.string().optional(),
  isPrivate: z.boolean(),
  client: clientSchema,
});
export type KnownProvider = z.output<typeof knownProviderSchema>;

const tokensSchema = z.object({
  accessToken: z.string(),
  refreshToken: z.string().optional(),
  /** Milliseconds since the epoch; undefined when the provider does not say. */
  renewAt: z.number().optional(),
  /** End of the access token, in the same form. */
  expiresAt: z.number().optional(),
  /** The answer without tokens. */
  data: z.record(z.string(), z.unknown()),
});
/** Tokens that a provider gave for one connection. */
export type StoredTokens = z.output<typeof tokensSchema>;

const recordSchema = z.object({
  /** Slug of the app. */
  integration: z.string(),
  provider: knownProviderSchema,
  flow: z.enum(["code", "client", "device"]),
  /** Asked for at the sign-in. */
  scopes: z.array(z.string()),
  /** Asked for by the app beside those of its plan, in this sign-in or the one that it replaced. */
  wantedScopes: z.array(z.string()).default([]),
  /** Who signed in, where the provider says it. */
  subject: z.string().optional(),
  account: z.string().optional(),
  tokens: tokensSchema,
  keepsRefreshTokens: z.boolean(),
  /** True from before a refresh token is sent until its answer is stored: then it may be spent. */
  isRenewing: z.boolean().default(false),
  /** Why it is over, in a sentence. */
  ended: z.string().optional(),
});

/** One sign-in of the owner at a provider, with its tokens. */
export type SignInRecord = z.output<typeof recordSchema>;

/** The sign-ins of a store, encrypted. A write is durable when it resolves. */
export interface SignInRecords {
  /** Undefined when there is none, or this key does not open it. */
  find(id: string): Promise<SignInRecord | undefined>;
  add(id: string, record: SignInRecord): Promise<void>;
  /** False when it has been removed: then nothing is stored. */
  change(id: string, record: SignInRecord): Promise<boolean>;
  remove(id: string): Promise<void>;
  /** Runs `work` while no other process, and no other call here, does so for this sign-in. */
  inTurn<T>(id: string, work: () => Promise<T>): Promise<T>;
}

/** Opens the sign-ins of a store. */
export function createSignInRecords(o: { store: Store; box: SecretBox; now: () => number }): SignInRecords {
  const { store, box, now } = o;
  const placeOf = (id: string) => `sign_ins.${id}`;
  const takeTurn = createTurns();
  const toColumns = (id: string, record: SignInRecord) => ({
    record: box.seal(JSON.stringify(record), placeOf(id)),
    updated_at: new Date(now()).toISOString(),
  });
  return {
    async find(id) {
      const row = await store.selectFrom("sign_ins").select("record").where("id", "=", id).executeTakeFirst();
      const opened = row === undefined ? undefined : box.open(row.record, placeOf(id));
      return opened === undefined ? undefined : recordSchema.parse(JSON.parse(opened));
    },

    async add(id, record) {
      const row = { id, integration: record.integration, ...toColumns(id, record) };
      await store.insertInto("sign_ins").values(row).execute();
    },

    async change(id, record) {
      const change = store.updateTable("sign_ins").set(toColumns(id, record)).where("id", "=", id);
      return (await change.executeTakeFirst()).numUpdatedRows > 0n;
    },

    async remove(id) {
      await store.deleteFrom("sign_ins").where("id", "=", id).execute();
    },

    inTurn: (id, work) => takeTurn(id, () => inTurnOf(store, `sign-in ${id}`, work)),
  };
}
