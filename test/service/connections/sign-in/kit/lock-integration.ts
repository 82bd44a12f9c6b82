import type { SignInPlan } from "../../../../../src/apps/port/integration.ts";
import {
  createSignInRecords,
  type SignInRecord,
} from "../../../../../src/service/connections/sign-in/sign-in-record.ts";
import { createSecretBox, readSecretKey, type SecretBox } from "../../../../../src/service/secrets/secret-box.ts";
import type { Store } from "../../../../../src/service/store/open-store.ts";
import { openStoreOf } from "../../../find-store.ts";

/** An app whose settings hold a sign-in and nothing else. */
export const lockApp = {
  slug: "lock",
  name: "Lock",
  findSignIn: (settings: Readonly<Record<string, unknown>>): SignInPlan => ({
    provider: { authUrl: "https://lock.test/page", tokenUrl: "https://lock.test/token" },
    flow: "code",
    scopes: [],
    isPrivate: true,
    useToken: ({ text, data }) => ({ ...settings, token: text, data }),
  }),
};

/** Stores a sign-in at a provider, whose access token has ended unless `more` says otherwise. */
export async function storeSignIn(
  o: { store: Store; box: SecretBox; tokenUrl: string; id?: string },
  more: Partial<SignInRecord> = {},
): Promise<{ signInId: string }> {
  const id = o.id ?? "sin_lock";
  const records = createSignInRecords({ ...o, now: () => 0 });
  await records.remove(id);
  await records.add(id, {
    integration: "lock",
    provider: {
      name: "lock.test",
      server: { issuer: "https://lock.test", token_endpoint: o.tokenUrl },
      hasIssuer: false,
      isPrivate: true,
      client: {
        clientId: "lock-client",
        clientSecret: "lock's secret",
        authMethod: "client_secret_post",
        isRegistered: false,
      },
    },
    flow: "code",
    scopes: [],
    wantedScopes: [],
    tokens: { accessToken: "access-0", refreshToken: "refresh-0", renewAt: 0, expiresAt: 0, data: {} },
    keepsRefreshTokens: false,
    isRenewing: false,
    ...more,
  });
  return { signInId: id };
}

/** Stores a sign-in in the data folder of a running test service; see {@link storeSignIn}. */
export async function storeSignInOf(dataDir: string, tokenUrl: string): Promise<{ signInId: string }> {
  const store = await openStoreOf(dataDir);
  const box = createSecretBox(await readSecretKey({ dataDir, isInUse: async () => true }));
  return storeSignIn({ store, box, tokenUrl }).finally(() => store.destroy());
}

/** Makes the tokens of a sign-in end now. */
export async function endTokens(o: { store: Store; box: SecretBox }, id = "sin_lock"): Promise<void> {
  const records = createSignInRecords({ ...o, now: () => 0 });
  const record = await records.find(id);
  if (record === undefined) throw new Error("There is no sign-in.");
  await records.change(id, { ...record, tokens: { ...record.tokens, renewAt: 0, expiresAt: 0 } });
}
