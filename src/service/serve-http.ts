import type { OpenSources } from "./added/open-sources.ts";
import { createApprovals } from "./approvals/approvals.ts";
import { type ApiKeys, createApiKeys } from "./auth/api-keys.ts";
import { createFirstSteps } from "./auth/first-steps.ts";
import { createOwnerSessions, type OwnerSessions } from "./auth/owner-sessions.ts";
import { createPasskeys } from "./auth/passkeys/passkeys.ts";
import { createPeople } from "./auth/people.ts";
import { createBootstrap } from "./auth/registration/bootstrap.ts";
import { createPairing } from "./auth/registration/pairing.ts";
import { createSecret } from "./auth/secrets.ts";
import { createKeptSecrets } from "./connections/kept-secrets.ts";
import { createProviderSignIns, SIGNED_IN_PATH } from "./connections/sign-in/provider-sign-ins.ts";
import { createCanonicalExecutions } from "./executions/canonical-executions.ts";
import { createIdempotencyKeys } from "./executions/idempotency-keys.ts";
import { createIngestTokens, createTokenSpender } from "./files/ingest-tokens.ts";
import type { Flows } from "./flows/flows.ts";
import type { Watch } from "./health/health.ts";
import { createApp } from "./http/app.ts";
import { listen } from "./http/listen.ts";
import { createNewcomerLimit } from "./http/newcomer-limit.ts";
import type { McpFeatures } from "./mcp/mcp-features.ts";
import type { ServiceMetrics } from "./metrics/service-metrics.ts";
import { type Notes, openNotes } from "./notify/notes.ts";
import type { Outbox } from "./notify/outbox.ts";
import { createOAuth, type OAuth } from "./oauth/create-oauth.ts";
import type { Core } from "./open-core.ts";
import type { Infrastructure } from "./open-infrastructure.ts";
import { readIngestSecret, type ServiceKeys } from "./secrets/service-keys.ts";
import { type CheckedOptions, listHosts, toLocalOrigin } from "./service-options.ts";
import { isShared, type Store } from "./store/open-store.ts";
import type { Triggers } from "./triggers/triggers.ts";

/** What a request may take beside its action, in milliseconds, before a stop cuts it. */
const ANSWER_MS = 5000;

interface ServedParts {
  readonly infrastructure: Infrastructure;
  readonly core: Core;
  readonly added: OpenSources;
  readonly flows: Flows;
  readonly triggers: Triggers;
  readonly outbox: Outbox;
  readonly metrics: ServiceMetrics | undefined;
  readonly watch: Watch;
  readonly accountId: string;
  /** More tools, prompts and resources for the MCP endpoint, beside the service's own. */
  readonly mcpExtras: McpFeatures | undefined;
}

interface ServedHttp {
  readonly url: string;
  readonly listeningOn: string;
  readonly keys: ApiKeys;
  readonly sessions: OwnerSessions;
  readonly runningRequests: () => number;
}

/** Listens, and answers once everything is there; what ends it is handed to `onClose` at once. */
export async function serveHttp(
  o: CheckedOptions,
  parts: ServedParts,
  onClose: (undo: () => Promise<unknown>) => void,
): Promise<ServedHttp> {
  const app = Promise.withResolvers<ReturnType<typeof createApp>>();
  // Most often no request waits for it.
  app.promise.catch(() => {});
  const listener = await listen({
    ...o,
    fetch: async (request, env) => (await app.promise).fetch(request, env),
  });
  onClose(() => listener.close(o.providerTimeoutMs + ANSWER_MS));
  const { store, states } = parts.infrastructure;
  const listeningOn = toLocalOrigin(o.host, listener.port);
  const url = o.publicOrigin ?? listeningOn;
  const sessions = createOwnerSessions(store, o.now);
  const people = createPeople(store, o.now);
  const passkeys = createPasskeys({ store, serviceKeys: parts.core.serviceKeys, now: o.now });
  const keys = createApiKeys(store, states, o.now);
  const ofPages = { sessions, passkeys, people, firstSteps: createFirstSteps(store, o.now) };
  const allowedHosts = listHosts(o, listener.port);
  try {
    const made = await createParts(o, parts, { url, keys, onClose });
    const newcomers = createNewcomerLimit(o.now);
    app.resolve(createApp({ ...made, ...ofPages, keys, allowedHosts, trustedProxies: o.trustedProxies, newcomers }));
  } catch (error) {
    // Requests that wait for it would hold up the end.
    app.reject(error);
    throw error;
  }
  return { url, listeningOn, keys, sessions, runningRequests: listener.running };
}

function startNotes(
  o: CheckedOptions,
  { infrastructure, core, ...served }: ServedParts,
  { url, ...callers }: { url: string; keys: ApiKeys; oauth: OAuth },
): Notes {
  return openNotes({
    ...o,
    ...core,
    ...infrastructure,
    ...served,
    ...callers,
    targets: o.noteTargets,
    nodeId: infrastructure.node.id,
    baseUrl: url,
    withArguments: o.notifyArguments ?? false,
    checkEveryMs: o.heartbeatMs,
  });
}

async function createParts(
  o: CheckedOptions,
  served: ServedParts,
  { url, keys, onClose }: { url: string; keys: ApiKeys; onClose: (undo: () => Promise<unknown>) => void },
) {
  const { now } = o;
  const { infrastructure, core, added, outbox, accountId, ...kept } = served;
  const { metrics } = kept;
  const { store, node } = infrastructure;
  const secret = o.ingestSecret === undefined ? await findIngestSecret(o, store, core.serviceKeys) : o.ingestSecret;
  const ingestTokens =
    secret === null ? undefined : createIngestTokens({ secret, baseUrl: url, spend: createTokenSpender(store), now });
  const idempotencyKeys = createIdempotencyKeys(store, now);
  const approvals = createApprovals({
    ...core,
    ...infrastructure,
    // Nobody is there to upload a file by a hint.
    ingestTokens: undefined,
    idempotencyKeys,
    onWaiting: outbox,
    now,
    log: o.log,
    baseUrl: url,
    mode: o.approvals ?? "device",
    checkEveryMs: o.heartbeatMs,
  });
  onClose(() => approvals.close());
  const canonical = createCanonicalExecutions({
    ...core,
    log: core.executionLog,
    ingestTokens,
    idempotencyKeys,
    findHold: approvals.findHold,
    now,
    waitForTwinMs: o.providerTimeoutMs,
  });
  const oauth = createOAuth({
    ...{ ...o, ...core, store, baseUrl: url, accountId },
    renderRefusal: async (error) => (await import("./http/pages/page.ts")).renderRefusal(error),
  });
  const notes = startNotes(o, served, { url, keys, oauth });
  onClose(() => notes.close());
  return {
    ...core,
    ...kept,
    refreshApps: added.refresh,
    pairing: createPairing({ ...core, store, keys, now, pairUrl: (token) => `${url}/pair/${token}` }),
    bootstrap: createBootstrap({ ...core, store, keys, now, baseUrl: url }),
    approvals: metrics?.watchApprovals(approvals) ?? approvals,
    canonical,
    keptSecrets: createKeptSecrets({ ...infrastructure, now }),
    providerSignIns: createProviderSignIns({
      ...infrastructure,
      now,
      baseUrl: url,
      redirectUri: `${url}${SIGNED_IN_PATH}`,
    }),
    oauth,
    notes,
    metricsToken: o.metricsToken,
    trace: o.trace,
    accessLog: o.accessLog ?? false,
    node,
    ingestTokens,
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
