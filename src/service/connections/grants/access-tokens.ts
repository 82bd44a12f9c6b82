import { z } from "zod";
import { createGate } from "../../../base/concurrency.ts";
import { sha256Hex } from "../../../base/hash.ts";
import type { Integration, OAuthGrant } from "../../integrations/integration.ts";
import type { SecretBox } from "../../secrets/secret-box.ts";
import { ServiceError } from "../../service-error.ts";
import { inTurnOf, type Store } from "../../store/open-store.ts";
import { requestTokens, type TokenAnswer } from "./request-tokens.ts";

/** An access token that has less time left than this is renewed before it is used; milliseconds. */
const MARGIN_MS = 60_000;
/** Renewals at a time: each holds a connection of a shared database. */
const MAX_RENEWALS = 3;

type App = Pick<Integration, "slug" | "name" | "findGrant">;
type Settings = Readonly<Record<string, unknown>>;

/** Settings of a connection as an action takes them. */
export interface LiveSettings {
  readonly settings: Settings;
  /**
   * For a token that the app refused although it was not due: settings with another one. Undefined where none can be got,
   * because the settings sign in otherwise. Throws like {@link AccessTokens.provide}.
   */
  renew(): Promise<Settings | undefined>;
}

/**
 * Access tokens of connections that sign in by OAuth2. However many calls and processes need a new one, the provider is asked
 * once; its answer is stored before it is used, because its refresh tokens may be good for one use only.
 */
export interface AccessTokens {
  /**
   * Settings with a token that lasts, renewed when there is none or it ends within a minute; other settings as they are.
   *
   * @throws ServiceError 401 `needs_reauth` when the provider ended the sign-in or refuses the client; 503, 429 when it
   *   cannot be asked and there is no token that is still valid.
   */
  provide(app: App, settings: Settings): Promise<LiveSettings>;
  /** Keeps the tokens of a sign-in, for settings that hold its refresh token; durable when it resolves. */
  adopt(app: App, settings: Settings, given: TokenAnswer): Promise<void>;
  /** Forgets the tokens of these settings, unless `others` sign in with the same grant. */
  forget(app: App, settings: Settings, others: readonly Settings[]): Promise<void>;
  /** Resolves when nothing is being renewed. */
  idle(): Promise<void>;
}

/** Creates the access tokens of a store. `now` gives milliseconds since the epoch. */
export function createAccessTokens(o: { store: Store; box: SecretBox; now: () => number }): AccessTokens {
  const { store, now } = o;
  const tokens = createTokenStore(o);
  const gate = createGate(MAX_RENEWALS);
  const underWay = new Map<string, Promise<StoredTokens>>();

  async function renew(app: App, grant: OAuthGrant, isGood: (known: StoredTokens) => boolean): Promise<StoredTokens> {
    const id = identify(grant);
    const leave = await gate.enter();
    try {
      return await inTurnOf(store, `grant ${id}`, async () => {
        const known = await tokens.find(id);
        // Another call or process was faster.
        if (known !== undefined && isGood(known)) return known;
        const refreshToken = known?.refreshToken ?? grant.refreshToken;
        const params = { grant_type: "refresh_token", refresh_token: refreshToken };
        const given = await requestTokens({ client: grant, params, app: app.name, setting: grant.setting }, now);
        const kept = toStored(given, refreshToken, now());
        await tokens.put(id, app.slug, kept);
        return kept;
      });
    } finally {
      leave();
    }
  }

  function renewOnce(...[app, grant, isGood]: Parameters<typeof renew>): Promise<StoredTokens> {
    const id = identify(grant);
    const running = underWay.get(id) ?? renew(app, grant, isGood).finally(() => underWay.delete(id));
    underWay.set(id, running);
    return running;
  }

  async function findLive(app: App, grant: OAuthGrant): Promise<StoredTokens> {
    const known = await tokens.find(identify(grant));
    const isDue = ({ renewAt }: StoredTokens) => renewAt !== undefined && renewAt <= now();
    if (known !== undefined && !isDue(known)) return known;
    return renewOnce(app, grant, (found) => !isDue(found)).catch((error: unknown) => {
      if (known?.expiresAt !== undefined && known.expiresAt > now()) return known;
      throw error;
    });
  }

  return {
    async provide(app, settings) {
      const grant = app.findGrant?.(settings);
      if (grant === undefined) return { settings, renew: async () => undefined };
      const use = ({ accessToken, data }: StoredTokens) => grant.useToken({ text: accessToken, data });
      const first = await findLive(app, grant);
      return {
        settings: use(first),
        renew: async () => use(await renewOnce(app, grant, (found) => found.accessToken !== first.accessToken)),
      };
    },

    async adopt(app, settings, given) {
      const grant = app.findGrant?.(settings);
      if (grant !== undefined) await tokens.put(identify(grant), app.slug, toStored(given, grant.refreshToken, now()));
    },

    async forget(app, settings, others) {
      const id = findId(app, settings);
      if (id === undefined || others.some((other) => findId(app, other) === id)) return;
      await tokens.forget(id);
    },

    async idle() {
      await Promise.allSettled(underWay.values());
    },
  };
}

/** Undefined also for settings that cannot be used. */
function findId(app: App, settings: Settings): string | undefined {
  try {
    const grant = app.findGrant?.(settings);
    return grant && identify(grant);
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}

function identify({ tokenUrl, clientId, refreshToken }: OAuthGrant): string {
  return sha256Hex(JSON.stringify([tokenUrl, clientId, refreshToken]));
}

function toStored(given: TokenAnswer, used: string, at: number): StoredTokens {
  const { accessToken, refreshToken = used, lifetimeSeconds, data } = given;
  const lifetime = (lifetimeSeconds ?? 0) * 1000;
  // One that lasts for less than two minutes is renewed after half of its time.
  const times = { expiresAt: at + lifetime, renewAt: at + Math.max(lifetime - MARGIN_MS, lifetime / 2) };
  return { accessToken, refreshToken, data, ...(lifetimeSeconds !== undefined && times) };
}

const tokensSchema = z.object({
  accessToken: z.string(),
  /** The one that is valid now. */
  refreshToken: z.string(),
  /** Milliseconds since the epoch; undefined when the provider does not say. */
  renewAt: z.number().optional(),
  expiresAt: z.number().optional(),
  data: z.record(z.string(), z.unknown()),
});

/** Latest tokens of a grant. */
type StoredTokens = z.output<typeof tokensSchema>;

/** The tokens of grants, encrypted. A write is durable when it resolves. */
function createTokenStore({ store, box, now }: { store: Store; box: SecretBox; now: () => number }) {
  const placeOf = (grant: string) => `access_tokens.${grant}`;
  return {
    /** Undefined when nothing was given yet, or this key does not open it. */
    async find(grant: string): Promise<StoredTokens | undefined> {
      const row = await store
        .selectFrom("access_tokens")
        .select("tokens")
        .where("grant_hash", "=", grant)
        .executeTakeFirst();
      const opened = row === undefined ? undefined : box.open(row.tokens, placeOf(grant));
      return opened === undefined ? undefined : tokensSchema.parse(JSON.parse(opened));
    },
    async put(grant: string, integration: string, tokens: StoredTokens): Promise<void> {
      const changed = {
        tokens: box.seal(JSON.stringify(tokens), placeOf(grant)),
        updated_at: new Date(now()).toISOString(),
      };
      await store
        .insertInto("access_tokens")
        .values({ grant_hash: grant, integration, ...changed })
        .onConflict((conflict) => conflict.column("grant_hash").doUpdateSet(changed))
        .execute();
    },
    async forget(grant: string): Promise<void> {
      await store.deleteFrom("access_tokens").where("grant_hash", "=", grant).execute();
    },
  };
}
