import { createId } from "../../../shared/base/ids.ts";
import { ServiceError } from "../../service-error.ts";
import type { Store } from "../../store/open-store.ts";
import { toStoredTokens } from "./access-tokens.ts";
import { forgetClient, type ProviderClients } from "./provider-clients.ts";
import { isClientUnknown, requestTokens, revokeTokens, type TokenAnswer } from "./request-tokens.ts";
import type { SignInRecords } from "./sign-in-record.ts";
import type { ReadySignIn, StartedSignIn } from "./started-sign-ins.ts";

/** The id of a sign-in that ended well, or why there is none. */
export type FirstTokens =
  | { readonly signInId: string; readonly account: string | undefined }
  | { readonly problem: string; readonly error?: ServiceError };

type Asked = Pick<Parameters<typeof requestTokens>[0], "grant" | "params">;

/** Creates what gets the first tokens of a sign-in and stores them. */
export function createFirstTokens(o: {
  store: Store;
  records: SignInRecords;
  clients: ProviderClients;
  now: () => number;
}) {
  const { records, clients, now } = o;

  async function store(started: ReadySignIn, given: TokenAnswer) {
    const { provider, flow, scopes, wantedScopes, keepsRefreshTokens, wanted } = started;
    const { subject, account } = given;
    const granted = typeof given.data.scope === "string" ? given.data.scope.split(/[\s,]+/).filter(Boolean) : scopes;
    const signInId = createId("sin");
    const who = { ...(subject !== undefined && { subject }), ...(account !== undefined && { account }) };
    const tokens = toStoredTokens(given, undefined, now());
    const facts = { integration: wanted.slug, provider, flow, scopes: granted, keepsRefreshTokens, ...who, tokens };
    await records.add(signInId, { ...facts, wantedScopes, isRenewing: false });
    return { signInId, account };
  }

  /** Agents were allowed to act for one account: another one must not take its place. */
  async function findOtherAccount({ before, app }: StartedSignIn, given: TokenAnswer): Promise<string | undefined> {
    const known = before === undefined ? undefined : await records.find(before);
    if (known?.subject === undefined || given.subject === undefined || known.subject === given.subject)
      return undefined;
    const [was, is] = [known.account ?? known.subject, given.account ?? given.subject];
    return `You signed in to ${app} as ${is}, and this connection belongs to ${was}. Sign in as ${was}, or connect ${is} as another connection.`;
  }

  return async (started: ReadySignIn, asked: Asked): Promise<FirstTokens> => {
    const { provider, app } = started;
    try {
      const given = await requestTokens({ provider, app, ...asked });
      await clients.prove(provider.server, provider.client);
      const other = await findOtherAccount(started, given);
      if (other === undefined) return await store(started, given);
      // Where refresh tokens stay valid, all that this account has agreed to would be withdrawn, for other connections too.
      const tokens = toStoredTokens(given, undefined, now());
      if (!started.keepsRefreshTokens) await revokeTokens({ provider, tokens });
      return { problem: other };
    } catch (error) {
      if (await isClientUnknown(error)) await forgetClient(o.store, provider);
      if (error instanceof ServiceError) return { problem: error.message, error };
      throw error;
    }
  };
}
