import type { Integration } from "../../../apps/port/integration.ts";
import { createGate } from "../../../shared/base/concurrency.ts";
import type { SecretBox } from "../../secrets/secret-box.ts";
import { ServiceError } from "../../service-error.ts";
import type { Store } from "../../store/open-store.ts";
import { forgetClient } from "./provider-clients.ts";
import { isClientUnknown, isOutcomeUnknown, requestTokens, revokeTokens, type TokenAnswer } from "./request-tokens.ts";
import { createSignInRecords, type SignInRecord, type SignInRecords, type StoredTokens } from "./sign-in-record.ts";

/** An access token that has less time left than this is renewed before it is used; milliseconds. */
const MARGIN_MS = 60_000;
/** Renewals at a time: each holds a connection of a shared database. */
const MAX_RENEWALS = 3;

type App = Pick<Integration, "slug" | "name" | "findSignIn">;
type Settings = Readonly<Record<string, unknown>>;

/** Name of the setting that holds the id of the sign-in of a connection. */
export const SIGN_IN_SETTING = "signInId";

/** Settings of a connection as an action takes them. */
export interface LiveSettings {
  readonly settings: Settings;
  /**
   * For a token that the app refused although it was not due: settings with another one. Undefined where none can be got,
   * because the settings sign in otherwise. Throws like {@link AccessTokens.provide}.
   */
  renew(): Promise<Settings | undefined>;
}

/** A sign-in as its owner sees it. */
export interface SignInFacts {
  /** Name of the provider, or the host of its page. */
  readonly provider: string;
  /** Mail address or name, where the provider says it. */
  readonly account: string | undefined;
  readonly scopes: readonly string[];
  /** Why it is over, or has to get more rights, in a sentence; undefined while neither. */
  readonly ended: string | undefined;
}

/**
 * Access tokens of connections that are signed in at a provider. However many calls and processes need a new one, the
 * provider is asked once; its answer is stored before it is used. A refresh token that may be good for one use only is never
 * sent twice: when its answer was lost, the sign-in lasts as long as its access token and then asks for a new one.
 */
export interface AccessTokens {
  /**
   * Settings with a token that lasts, renewed when there is none or it ends within a minute; other settings as they are.
   *
   * @throws ServiceError 401 `needs_reauth` when there is no sign-in, or it has ended; 503, 429 when the provider cannot be
   *   asked and there is no token that is still valid.
   */
  provide(app: App, settings: Settings): Promise<LiveSettings>;
  /** Undefined for settings without a sign-in. */
  describe(settings: Settings): Promise<SignInFacts | undefined>;
  /** Notes scopes that the app asks for: the next sign-in of these settings asks the owner for them. */
  askForScopes(settings: Settings, scopes: readonly string[]): Promise<void>;
  /**
   * Forgets the sign-in of these settings, unless `others` use it, and withdraws it at the provider. One that another sign-in
   * of the same account replaced is left to end there where refresh tokens stay valid: such providers withdraw all that the
   * account has agreed to.
   */
  forget(settings: Settings, others: readonly Settings[], o?: { readonly isReplaced: boolean }): Promise<void>;
  /** Resolves when nothing is being renewed. */
  idle(): Promise<void>;
}

/** Creates the access tokens of a store. `now` gives milliseconds since the epoch. */
export function createAccessTokens(o: { store: Store; box: SecretBox; now: () => number }): AccessTokens {
  const { now } = o;
  const records = createSignInRecords(o);
  const gate = createGate(MAX_RENEWALS);
  const underWay = new Map<string, Promise<StoredTokens>>();
  const renew = createRenewal({ ...o, records });

  function renewOnce(app: App, id: string, isGood: (known: StoredTokens) => boolean): Promise<StoredTokens> {
    const start = async () => {
      const leave = await gate.enter();
      return renew(app, id, isGood).finally(leave);
    };
    const running = underWay.get(id) ?? start().finally(() => underWay.delete(id));
    underWay.set(id, running);
    return running;
  }

  async function findLive(app: App, id: string): Promise<StoredTokens> {
    const record = await records.find(id);
    if (record === undefined || record.ended !== undefined) throw refuseEnded(app, record);
    const { tokens } = record;
    const isDue = ({ renewAt }: StoredTokens) => renewAt !== undefined && renewAt <= now();
    if (!isDue(tokens) || (!isRenewable(record) && isValid(tokens, now()))) return tokens;
    return renewOnce(app, id, (found) => !isDue(found)).catch((error: unknown) => {
      const isEnded = error instanceof ServiceError && error.status === 401;
      if (!isEnded && isValid(tokens, now())) return tokens;
      throw error;
    });
  }

  return {
    async provide(app, settings) {
      const plan = app.findSignIn?.(settings);
      if (plan === undefined) return { settings, renew: async () => undefined };
      const id = readSignInId(settings);
      if (id === undefined) throw refuseEnded(app);
      const use = ({ accessToken, data }: StoredTokens) => plan.useToken({ text: accessToken, data });
      const first = await findLive(app, id);
      return {
        settings: use(first),
        renew: async () => use(await renewOnce(app, id, (found) => found.accessToken !== first.accessToken)),
      };
    },

    async describe(settings) {
      const id = readSignInId(settings);
      const record = id === undefined ? undefined : await records.find(id);
      if (record === undefined) return undefined;
      const { provider, account, scopes, wantedScopes, ended } = record;
      const missing = wantedScopes.filter((scope) => !scopes.includes(scope));
      const lack = missing.length === 0 ? undefined : `The app asks for more rights: ${missing.join(", ")}.`;
      return { provider: provider.name, account, scopes, ended: ended ?? lack };
    },

    async askForScopes(settings, scopes) {
      const id = readSignInId(settings);
      if (id === undefined) return;
      await records.inTurn(id, async () => {
        const record = await records.find(id);
        const wanted = new Set([...(record?.wantedScopes ?? []), ...scopes]);
        if (record !== undefined) await records.change(id, { ...record, wantedScopes: [...wanted] });
      });
    },

    async forget(settings, others, { isReplaced } = { isReplaced: false }) {
      const id = readSignInId(settings);
      if (id === undefined || others.some((other) => readSignInId(other) === id)) return;
      // A renewal may be about to store other tokens.
      const record = await records.inTurn(id, async () => {
        const found = await records.find(id);
        await records.remove(id);
        return found;
      });
      if (record !== undefined && !(isReplaced && record.keepsRefreshTokens)) await revokeTokens(record);
    },

    async idle() {
      await Promise.allSettled(underWay.values());
    },
  };
}

/** The id of the sign-in that these settings have. */
export function readSignInId(settings: Settings): string | undefined {
  const id = settings[SIGN_IN_SETTING];
  return typeof id === "string" && id !== "" ? id : undefined;
}

function isValid({ expiresAt }: StoredTokens, now: number): boolean {
  return expiresAt !== undefined && expiresAt > now;
}

function isRenewable({ flow, tokens }: SignInRecord): boolean {
  return flow === "client" || tokens.refreshToken !== undefined;
}

const INTERRUPTED = "A renewal was cut off, and the refresh token that it used may not be used again.";
const NOT_RENEWABLE = "The sign-in has ended, and the provider gave no refresh token to renew it with.";

/** Creates the renewal of a token; `isGood` tells that another call or process was faster. */
function createRenewal({ store, records, now }: { store: Store; records: SignInRecords; now: () => number }) {
  /** From here on the used refresh token may be spent. */
  async function ask(app: App, id: string, record: SignInRecord): Promise<StoredTokens> {
    const { provider, flow, tokens, keepsRefreshTokens } = record;
    const { refreshToken } = tokens;
    const isSpendable = flow !== "client" && !keepsRefreshTokens;
    if (isSpendable) await records.change(id, { ...record, isRenewing: true });
    try {
      const given = await requestTokens({ provider, app: app.name, ...describeGrant(record) });
      checkAccount(app, record, given);
      const renewed = toStoredTokens(given, refreshToken, now());
      if (await records.change(id, { ...record, tokens: renewed, isRenewing: false })) return renewed;
      // The connection is gone by now, removed by another process.
      await revokeTokens({ provider, tokens: renewed });
      throw refuseEnded(app);
    } catch (error) {
      if (await isClientUnknown(error)) await forgetClient(store, provider);
      if (error instanceof ServiceError && error.status === 401) return end(app, id, record, error);
      if (isSpendable && !(await isOutcomeUnknown(error))) await records.change(id, { ...record, isRenewing: false });
      throw error;
    }
  }

  async function end(app: App, id: string, record: SignInRecord, error: unknown): Promise<never> {
    const ended = error instanceof ServiceError ? error.message : INTERRUPTED;
    const { refreshToken: _, ...tokens } = record.tokens;
    await records.change(id, { ...record, ended, isRenewing: false, tokens });
    throw error instanceof ServiceError ? error : refuseEnded(app, { ended });
  }

  return (app: App, id: string, isGood: (known: StoredTokens) => boolean): Promise<StoredTokens> =>
    records.inTurn(id, async () => {
      const record = await records.find(id);
      if (record === undefined || record.ended !== undefined) throw refuseEnded(app, record);
      if (isGood(record.tokens)) return record.tokens;
      if (record.isRenewing) return isValid(record.tokens, now()) ? record.tokens : end(app, id, record, undefined);
      if (!isRenewable(record)) throw refuseEnded(app, { ended: NOT_RENEWABLE });
      return ask(app, id, record);
    });
}

function describeGrant(record: SignInRecord) {
  if (record.flow === "client") return describeClientGrant(record);
  return { grant: "refresh_token", params: { refresh_token: record.tokens.refreshToken ?? "" } };
}

/** The request of a client that acts for itself (RFC 6749, 4.4). */
export function describeClientGrant({ scopes }: { readonly scopes: readonly string[] }) {
  return { grant: "client_credentials", params: scopes.length > 0 ? { scope: scopes.join(" ") } : undefined };
}

/** The owner agreed to one account: another one must not take its place unseen. */
function checkAccount(app: App, { subject }: SignInRecord, given: TokenAnswer): void {
  if (subject === undefined || given.subject === undefined || given.subject === subject) return;
  throw new ServiceError(401, "needs_reauth", `${app.name}: The provider answered with another account.`, {
    type: "auth",
    hint: SIGN_IN_AGAIN,
  });
}

/** Tokens as they are stored. One that lasts for less than two minutes is renewed after half of its time. */
export function toStoredTokens(given: TokenAnswer, used: string | undefined, at: number): StoredTokens {
  const { accessToken, refreshToken = used, lifetimeSeconds, data } = given;
  const lifetime = (lifetimeSeconds ?? 0) * 1000;
  const times = { expiresAt: at + lifetime, renewAt: at + Math.max(lifetime - MARGIN_MS, lifetime / 2) };
  return {
    accessToken,
    data,
    ...(refreshToken !== undefined && { refreshToken }),
    ...(lifetimeSeconds !== undefined && times),
  };
}

const SIGN_IN_AGAIN = "The owner signs in again: dashboard, Connections, Reconnect.";

function refuseEnded(app: Pick<App, "name">, record?: Pick<SignInRecord, "ended">): ServiceError {
  const reason = record?.ended ?? "It is not signed in at its provider, or the sign-in has ended.";
  const message = reason.startsWith(app.name) ? reason : `${app.name}: ${reason}`;
  return new ServiceError(401, "needs_reauth", message, { type: "auth", hint: SIGN_IN_AGAIN });
}
