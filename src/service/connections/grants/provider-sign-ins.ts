import { createHash } from "node:crypto";
import { z } from "zod";
import { createSecret, hashSecret, isSameHash } from "../../auth/secrets.ts";
import type { Integration } from "../../integrations/integration.ts";
import type { SecretBox } from "../../secrets/secret-box.ts";
import { ServiceError } from "../../service-error.ts";
import type { Store } from "../../store/open-store.ts";
import { requestTokens, type TokenAnswer } from "./request-tokens.ts";

/** How long the owner may take at the provider, milliseconds. */
const LIFETIME_MS = 15 * 60_000;

const detailsSchema = z.object({
  /** SHA-256 of a secret of the browser that began. */
  browser: z.string(),
  verifier: z.string(),
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

type Details = z.output<typeof detailsSchema>;
type SignInApp = Pick<Integration, "slug" | "name" | "findSignIn">;

/** The connection that the owner asks for. */
export type SignInOrder = Pick<Details, "slug" | "connectionId" | "form">;

/** Sign-ins on pages of providers. Each leads back to `redirectUri` once, in the browser that began it. */
export interface ProviderSignIns {
  readonly redirectUri: string;
  /**
   * The sign-in address for the owner's browser; undefined when the app has none. The form is kept, encrypted, for 15
   * minutes. Throws ServiceError 422 naming the setting that is needed first.
   *
   * @param browser something that only this browser has
   */
  begin(
    app: SignInApp,
    settings: Readonly<Record<string, unknown>>,
    o: SignInOrder & { readonly browser: string },
  ): Promise<URL | undefined>;
  /** The sign-in begun with this state in this browser, once; undefined when there is none. */
  take(state: string, browser: string): Promise<(SignInOrder & { readonly verifier: string }) | undefined>;
  /** Exchanges the code that the provider sent back. Throws like `requestTokens`. */
  exchange(
    app: SignInApp,
    settings: Readonly<Record<string, unknown>>,
    o: { readonly code: string; readonly verifier: string },
  ): Promise<TokenAnswer>;
}

/** Creates the sign-ins of a store. `now` gives milliseconds since the epoch. */
export function createProviderSignIns(o: {
  store: Store;
  box: SecretBox;
  now: () => number;
  redirectUri: string;
}): ProviderSignIns {
  const { store, box, now, redirectUri } = o;
  const placeOf = (hash: string) => `provider_sign_ins.${hash}`;

  return {
    redirectUri,

    async begin(app, settings, { browser, ...order }) {
      const signIn = app.findSignIn?.(settings);
      if (signIn === undefined) return undefined;
      const [state, verifier] = [createSecret(), createSecret()];
      const hash = hashSecret(state);
      const details: Details = { ...order, browser: hashSecret(browser), verifier };
      await store
        .insertInto("provider_sign_ins")
        .values({
          state_hash: hash,
          details: box.seal(JSON.stringify(details), placeOf(hash)),
          expires_at: new Date(now() + LIFETIME_MS).toISOString(),
        })
        .execute();
      const url = new URL(signIn.authUrl);
      const challenge = createHash("sha256").update(verifier).digest("base64url");
      const params = {
        response_type: "code",
        client_id: signIn.clientId,
        redirect_uri: redirectUri,
        state,
        ...(signIn.pkce && { code_challenge: challenge, code_challenge_method: "S256" }),
      };
      for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value);
      return url;
    },

    async take(state, browser) {
      const hash = hashSecret(state);
      const row = await store
        .deleteFrom("provider_sign_ins")
        .where("state_hash", "=", hash)
        .returningAll()
        .executeTakeFirst();
      if (row === undefined || row.expires_at <= new Date(now()).toISOString()) return undefined;
      const opened = box.open(row.details, placeOf(hash));
      const details = opened === undefined ? undefined : detailsSchema.parse(JSON.parse(opened));
      return details !== undefined && isSameHash(details.browser, hashSecret(browser)) ? details : undefined;
    },

    async exchange(app, settings, { code, verifier }) {
      const signIn = app.findSignIn?.(settings);
      if (signIn === undefined) throw new ServiceError(409, "conflict", `${app.name} signs in otherwise now.`);
      const params = {
        grant_type: "authorization_code",
        code,
        redirect_uri: redirectUri,
        ...(signIn.pkce && { code_verifier: verifier }),
      };
      return requestTokens({ client: signIn, params, app: app.name, setting: "client_secret" }, now);
    },
  };
}
