import type { DAVAccount } from "tsdav";
import type { AllowedHosts } from "../../service/fetch/address-rules.ts";
import { type AppAgent, createAppAgent } from "../../service/fetch/guarded-connector.ts";
import { refuseSetting, ServiceError } from "../../service/service-error.ts";
import { sha256Hex } from "../../shared/base/hash.ts";
import type { Action, ActionContext } from "../port/integration.ts";
import { RemoteCall } from "../port/remote-call.ts";
import type { CollectionKind } from "./collection-store.ts";
import { createDavFetch } from "./dav-fetch.ts";
import { readDavSettings } from "./dav-settings.ts";
import { type DavAccountCache, DavStore } from "./dav-store.ts";

/** How long a server may send nothing; a call has no more than a minute. */
const SILENCE_MS = 50_000;
const READ = { level: "read", idempotent: true } as const;
/** Accounts whose discovery is remembered. */
const MAX_ACCOUNTS = 100;

type Settings = ActionContext["connection"]["settings"];

/** Creates the ways to accounts on servers; connects nowhere yet. */
export function createDavAccounts(kind: CollectionKind, o: { readonly allowed?: AllowedHosts }) {
  const agents = new Map<boolean, AppAgent>();
  const accounts = new Map<string, DAVAccount>();

  const createCache = (key: string): DavAccountCache => ({
    async find(discover) {
      const known = accounts.get(key) ?? (await discover());
      if (accounts.size >= MAX_ACCOUNTS) accounts.clear();
      accounts.set(key, known);
      return known;
    },
    forget: () => void accounts.delete(key),
  });

  function open(
    given: Settings,
    context: Pick<ActionContext, "signal" | "now">,
    action: Pick<Action, "level" | "idempotent">,
  ): DavStore {
    const settings = readDavSettings(given, o.allowed);
    const { url, user, password, isPrivate } = settings;
    const agent = agents.get(isPrivate) ?? createAppAgent({ isPrivate, silenceMs: SILENCE_MS });
    agents.set(isPrivate, agent);
    const call = new RemoteCall({ app: kind.app, action, context, secrets: { password } });
    const dav = createDavFetch(call, { settings, dispatcher: agent.dispatcher });
    const cache = createCache(sha256Hex(JSON.stringify([url.href, user, password])));
    return new DavStore({ call, dav, kind, server: url.href, cache });
  }

  return {
    open: (context: ActionContext, action: Pick<Action, "level" | "idempotent">) =>
      open(context.connection.settings, context, action),

    /** Throws ServiceError 422 naming the setting that is wrong. */
    check: (settings: Settings) => void readDavSettings(settings, o.allowed),

    /** Signs in, and lists the collections. Throws as `check` does. */
    async test(given: Settings, signal: AbortSignal): Promise<void> {
      try {
        const found = await open(given, { signal, now: Date.now }, READ).list();
        if (found.length === 0) throw refuseSetting("server", `has an account, but nothing of this kind in it.`);
      } catch (error) {
        if (signal.aborted) throw refuseSetting("server", "was tried, but gave no answer in time.", error);
        if (!(error instanceof ServiceError) || error.status === 422) throw error;
        const isRefused = error.status === 401 || error.status === 403;
        throw refuseSetting(isRefused ? "password" : "server", `does not work: ${error.message}`, error);
      }
    },

    /** Ends all connections; a later call opens them again. */
    async close(): Promise<void> {
      const open = [...agents.values()];
      agents.clear();
      accounts.clear();
      await Promise.all(open.map((agent) => agent.close()));
    },
  };
}
