import { join } from "node:path";
import type { OpenSources } from "./added/open-sources.ts";
import { createApprovals } from "./approvals/approvals.ts";
import { type ApiKeys, createApiKeys } from "./auth/api-keys.ts";
import { createFirstSteps } from "./auth/first-steps.ts";
import type { Grants } from "./auth/grants.ts";
import { createOwnerSessions } from "./auth/owner-sessions.ts";
import { createPasskeys } from "./auth/passkeys/passkeys.ts";
import { createPeople } from "./auth/people.ts";
import { createBootstrap } from "./auth/registration/bootstrap.ts";
import { createPairing } from "./auth/registration/pairing.ts";
import { createSecret } from "./auth/secrets.ts";
import { createKeptSecrets } from "./connections/kept-secrets.ts";
import { createProviderSignIns, SIGNED_IN_PATH } from "./connections/sign-in/provider-sign-ins.ts";
import type { Service } from "./create-service.ts";
import { createCanonicalExecutions } from "./executions/canonical-executions.ts";
import { createIdempotencyKeys } from "./executions/idempotency-keys.ts";
import { createIngestTokens, createTokenSpender } from "./files/ingest-tokens.ts";
import { createTemplates, type FlowTemplates } from "./flows/flow-templates.ts";
import { BUILT_IN_KEYS, type Flows, findTemplates, openFlows } from "./flows/flows.ts";
import { openTemplateFiles } from "./flows/own/template-files.ts";
import { openWatch, type Watch } from "./health/health.ts";
import { createApp } from "./http/app.ts";
import { listen } from "./http/listen.ts";
import { createServiceMetrics, type ServiceMetrics } from "./metrics/service-metrics.ts";
import { type Notes, openNotes } from "./notify/notes.ts";
import { createOutbox, type Outbox } from "./notify/outbox.ts";
import { createOAuth, type OAuth } from "./oauth/create-oauth.ts";
import { openAddedApps } from "./open-added-apps.ts";
import { type Core, openCore } from "./open-core.ts";
import { type Infrastructure, openInfrastructure } from "./open-infrastructure.ts";
import { readIngestSecret, type ServiceKeys } from "./secrets/service-keys.ts";
import type { ServiceLog } from "./service-error.ts";
import {
  type CheckedOptions,
  checkOptions,
  listHosts,
  type ServiceOptions,
  toLocalOrigin,
  warnOfPlainAddress,
} from "./service-options.ts";
import { inTurnOfStarts, isShared, type Store } from "./store/open-store.ts";
import { openTriggers, type Triggers } from "./triggers/triggers.ts";
import { keepSettling, openSweeping } from "./upkeep.ts";

/** Folder of the data folder with the owner's templates of flows. */
const TEMPLATES_FOLDER = "templates";

/** A running service with its inside, which only the service itself and the test kit may touch. */
export interface OpenService extends Service {
  readonly store: Store;
  readonly accountId: string;
  readonly keys: ApiKeys;
  readonly grants: Grants;
  readonly triggers: Triggers;
}

/** Heartbeats between two looks of a trigger into an app: a minute. */
const LOOK_BEATS = 12;

/** Starts everything, or nothing: what was opened is closed again when a later step fails. */
export async function openService(options: ServiceOptions): Promise<OpenService> {
  const checked = checkOptions(options);
  warnOfPlainAddress(checked);
  const opened: Undo[] = [];
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= undoAll(opened, checked.log);
    return closing;
  };
  try {
    return { ...(await start(checked, (undo) => opened.push(undo))), close };
  } catch (error) {
    // The log has the failures to close; the caller needs the reason why the start failed.
    await close().catch(() => {});
    throw error;
  }
}

async function start(o: CheckedOptions, onClose: (undo: Undo) => void): Promise<Omit<OpenService, "close">> {
  const infrastructure = await openInfrastructure(o, onClose);
  const { folder, store, node } = infrastructure;
  const watch = await openWatch(o, store);
  onClose(() => watch.close());
  const { accountId, core: opened } = await inTurnOfStarts(store, () => openCore(o, infrastructure));
  const metrics = o.metricsToken === undefined ? undefined : createServiceMetrics({ ...o, store, accountId });
  const core = metrics === undefined ? opened : { ...opened, executor: metrics.watchExecutor(opened.executor) };
  node.onBeat(() => core.executionLog.settle().then(() => core.executionLog.closeAbandoned()));
  await node.start();
  if (!isShared(store)) onClose(keepSettling(core.executionLog, o));
  const added = await openAddedApps(o, core);
  onClose(() => added.close());
  onClose(() => core.executionLog.flush());
  onClose(() => core.executor.idle().then(() => core.accessTokens.idle()));
  // Nobody is there to upload a file by a hint.
  const files = { ...core, ingestTokens: undefined };
  const notes = createOutbox({ store, targets: o.noteTargets, nodeId: node.id, now: o.now });
  const outbox = metrics?.watchOutbox(notes) ?? notes;
  const templates = openTemplates(o, core);
  const flows = await openFlows({ ...o, ...core, store, node, files, templates, onWaiting: outbox });
  onClose(() => flows.close());
  await watch.start(core.connections);
  const triggers = openTriggers({
    ...o,
    ...core,
    ...infrastructure,
    accountId,
    flows,
    lookEveryMs: o.heartbeatMs * LOOK_BEATS,
    isClockBelieved: watch.isClockBelieved,
  });
  onClose(() => triggers.close());
  const sweeping = openSweeping(o, { ...infrastructure, watch });
  onClose(sweeping.stop);
  const served = { infrastructure, core, added, flows, triggers, outbox, metrics, watch, accountId };
  const { url, listeningOn, keys, sessions, runningRequests } = await serveHttp(o, served, onClose);
  await folder.announce(url);
  // Only now: nobody waits for it.
  sweeping.begin();
  return {
    url,
    listeningOn,
    dataDir: o.dataDir,
    store,
    accountId,
    keys,
    grants: core.grants,
    triggers,
    connections: core.connections,
    signInUrl: async () => `${url}/sign-in?token=${await sessions.createLink(accountId)}`,
    // A request and its action are one call; an action goes on without its request, and the steps of flows have none.
    runningCalls: () => Math.max(runningRequests(), core.executor.running()),
  };
}

function openTemplates({ dataDir, log }: CheckedOptions, { catalog }: Core): FlowTemplates {
  const folder = join(dataDir, TEMPLATES_FOLDER);
  const files = openTemplateFiles({ folder, catalog, taken: BUILT_IN_KEYS, log });
  // Mistakes are logged when the service starts.
  files.problems();
  return createTemplates(findTemplates(catalog), files);
}

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
}

/** Listens, and answers once everything is there; what ends it is handed to `onClose` at once. */
async function serveHttp(o: CheckedOptions, parts: ServedParts, onClose: (undo: () => Promise<unknown>) => void) {
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
    app.resolve(createApp({ ...made, ...ofPages, keys, allowedHosts, trustedProxies: o.trustedProxies }));
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
    mcpExtras: o.mcpExtras,
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

/** Ends one thing that was opened. */
export type Undo = () => Promise<unknown> | unknown;

/**
 * Undoes what was opened, the last first and one after the other; what fails keeps none of the others from its turn.
 *
 * @throws the first failure, when everything has had its turn; all are logged.
 */
export async function undoAll(opened: readonly Undo[], log: ServiceLog): Promise<void> {
  const failures: unknown[] = [];
  for (const undo of opened.toReversed()) {
    try {
      await undo();
    } catch (cause) {
      failures.push(cause);
      log({ level: "error", message: "A part of the service could not be closed.", cause });
    }
  }
  if (failures.length > 0) throw failures[0];
}
