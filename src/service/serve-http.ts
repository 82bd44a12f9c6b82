import type { OpenSources } from "./added/open-sources.ts";
import { type ApiKeys, createApiKeys } from "./auth/api-keys.ts";
import { createOwnerSessions } from "./auth/owner-sessions.ts";
import { createBootstrap } from "./auth/registration/bootstrap.ts";
import { createPairing } from "./auth/registration/pairing.ts";
import { createSecret } from "./auth/secrets.ts";
import { createProviderSignIns } from "./connections/sign-in/provider-sign-ins.ts";
import { createCanonicalExecutions } from "./executions/canonical-executions.ts";
import { createIdempotencyKeys } from "./executions/idempotency-keys.ts";
import { createIngestTokens, createTokenSpender } from "./files/ingest-tokens.ts";
import type { Flows } from "./flows/flows.ts";
import type { Watch } from "./health/health.ts";
import { createApp } from "./http/app.ts";
import { listen } from "./http/listen.ts";
import { SIGNED_IN_PATH } from "./http/pages/connect.ts";
import { renderRefusal } from "./http/pages/page.ts";
import { createOAuth } from "./oauth/create-oauth.ts";
import type { Core } from "./open-core.ts";
import type { Infrastructure } from "./open-infrastructure.ts";
import { readIngestSecret, type ServiceKeys } from "./secrets/service-keys.ts";
import { type CheckedOptions, listHosts, toLocalOrigin } from "./service-options.ts";
import { isShared, type Store } from "./store/open-store.ts";

/** What a request may take beside its action, in milliseconds, before a stop cuts it. */
const ANSWER_MS = 5000;

interface ServedParts {
  readonly infrastructure: Infrastructure;
  readonly core: Core;
  readonly added: OpenSources;
  readonly flows: Flows;
  readonly watch: Watch;
  readonly accountId: string;
}

/** Listens, and answers once everything is there; what ends it is handed to `onClose` at once. */
export async function serveHttp(
  o: CheckedOptions,
  parts: ServedParts,
  onClose: (undo: () => Promise<unknown>) => void,
) {
  const app = Promise.withResolvers<ReturnType<typeof createApp>>();
  // Most often no request waits for it.
  app.promise.catch(() => {});
  const listener = await listen({
    ...o,
    fetch: async (request, env) => (await app.promise).fetch(request, env),
  });
  onClose(() => listener.close(o.providerTimeoutMs + ANSWER_MS));
  const { store } = parts.infrastructure;
  const url = o.publicOrigin ?? toLocalOrigin(o.host, listener.port);
  const sessions = createOwnerSessions(store, o.now);
  const keys = createApiKeys(store, o.now);
  const allowedHosts = listHosts(o, listener.port);
  try {
    app.resolve(createApp({ ...(await createParts(o, parts, { url, keys })), keys, sessions, allowedHosts }));
  } catch (error) {
    // Requests that wait for it would hold up the end.
    app.reject(error);
    throw error;
  }
  return { url, keys, sessions, runningRequests: listener.running };
}

async function createParts(
  o: CheckedOptions,
  { infrastructure, core, added, flows, watch, accountId }: ServedParts,
  { url, keys }: { url: string; keys: ApiKeys },
) {
  const { now } = o;
  const { store, node } = infrastructure;
  const secret = o.ingestSecret === undefined ? await findIngestSecret(o, store, core.serviceKeys) : o.ingestSecret;
  const ingestTokens =
    secret === null ? undefined : createIngestTokens({ secret, baseUrl: url, spend: createTokenSpender(store), now });
  const canonical = createCanonicalExecutions({
    ...core,
    log: core.executionLog,
    ingestTokens,
    idempotencyKeys: createIdempotencyKeys(store, now),
    now,
    waitForTwinMs: o.providerTimeoutMs,
  });
  return {
    ...core,
    refreshApps: added.refresh,
    pairing: createPairing({ store, keys, now, pairUrl: (token) => `${url}/pair/${token}` }),
    bootstrap: createBootstrap({ store, keys, now, baseUrl: url }),
    canonical,
    providerSignIns: createProviderSignIns({
      ...infrastructure,
      now,
      baseUrl: url,
      redirectUri: `${url}${SIGNED_IN_PATH}`,
    }),
    oauth: createOAuth({ ...o, store, serviceKeys: core.serviceKeys, baseUrl: url, accountId, renderRefusal }),
    mcpExtras: o.mcpExtras,
    node,
    watch,
    ingestTokens,
    flows,
    flowApprovals: o.flowApprovals ?? "api",
    fileEnvelopes: o.fileEnvelopes ?? true,
    baseUrl: url,
    now,
    log: o.log,
  } as const;
}

/** Processes on a shared store use one secret, so that each accepts the tokens of the others. */
function findIngestSecret({ dataDir }: CheckedOptions, store: Store, keys: ServiceKeys): Promise<string> {
  return isShared(store) ? keys.read("ingest", createSecret) : readIngestSecret(dataDir);
}
