import { type ApiKeys, createApiKeys } from "./auth/api-keys.ts";
import { createOwnerSessions } from "./auth/owner-sessions.ts";
import { createId, createSecret } from "./auth/secrets.ts";
import { createCanonicalExecutions } from "./canonical/canonical-executions.ts";
import { createIdempotencyKeys } from "./canonical/idempotency-keys.ts";
import { createLiveCatalog } from "./catalog/live-catalog.ts";
import { connectFirstApps } from "./connections/connect-first-apps.ts";
import { type Connections, createConnections } from "./connections/connections.ts";
import { createConnector } from "./connections/connector.ts";
import { createActivity } from "./executions/activity.ts";
import { createExecutor, type Executor } from "./executions/execute-tool.ts";
import { createExecutionLog, type ExecutionLog } from "./executions/execution-log.ts";
import { createUrlFiles } from "./fetch/url-files.ts";
import type { BlobStore } from "./files/blob-store.ts";
import { createIngestTokens } from "./files/ingest-tokens.ts";
import { chooseEngine } from "./flows/engines/choose-engine.ts";
import { type Flows, type FlowsOptions, findTemplates, openFlows } from "./flows/flows.ts";
import { createAccessTokens } from "./grants/access-tokens.ts";
import { createProviderSignIns } from "./grants/provider-sign-ins.ts";
import { createApp } from "./http/app.ts";
import { type Listener, listen } from "./http/listen.ts";
import { SIGNED_IN_PATH } from "./http/routes/pages-signed-in.ts";
import type { Integration } from "./integrations/integration.ts";
import { createOAuth } from "./oauth/create-oauth.ts";
import { openAdded } from "./open-added.ts";
import { type Ground, openGround } from "./open-ground.ts";
import { createBootstrap } from "./registration/bootstrap.ts";
import { createPairing } from "./registration/pairing.ts";
import { createSettingsSeal } from "./secrets/seal-settings.ts";
import { type CheckedOptions, checkOptions, listHosts, type ServiceOptions, toLocalOrigin } from "./service-options.ts";
import { createSourceStore } from "./sources/source-store.ts";
import { findAccount } from "./store/find-account.ts";
import { forgetEnded } from "./store/forget-ended.ts";
import { forgetExpired } from "./store/forget-expired.ts";
import { readIngestSecret } from "./store/ingest-secret.ts";
import type { Store } from "./store/open-store.ts";
import { createServiceKeys, type ServiceKeys } from "./store/service-keys.ts";
import { createSpentTokens } from "./store/spent-tokens.ts";
import { inTurnOfStarts, isShared } from "./store/turns.ts";

/** A running service with its inside, which only the service itself and the test kit may touch. */
export interface OpenService {
  readonly url: string;
  readonly dataDir: string;
  readonly store: Store;
  readonly accountId: string;
  readonly keys: ApiKeys;
  readonly connections: Connections;
  signInUrl(): Promise<string>;
  close(): Promise<void>;
}

/** Running requests get this long when the service stops. */
const GRACE_MS = 5000;
const SWEEP_EVERY_MS = 60 * 60 * 1000;
const DEFAULT_PROVIDER_TIMEOUT_MS = 60_000;

type Undo = () => Promise<unknown> | unknown;

/** Starts everything, or nothing: what was opened is closed again when a later step fails. */
export async function openService(options: ServiceOptions): Promise<OpenService> {
  const checked = checkOptions(options);
  const opened: Undo[] = [];
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= undoAll(opened);
    return closing;
  };
  try {
    return { ...(await start(checked, (undo) => opened.push(undo))), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function undoAll(opened: Undo[]): Promise<void> {
  for (const undo of opened.reverse()) await undo();
}

async function start(o: CheckedOptions, onClose: (undo: Undo) => void): Promise<Omit<OpenService, "close">> {
  const { now, dataDir } = o;
  const ground = await openGround(o, onClose);
  const { folder, store, node } = ground;
  const { accountId, work } = await inTurnOfStarts(store, () => openAccount(o, ground));
  node.onBeat(() => work.executionLog.settle().then(() => work.executionLog.closeAbandoned()));
  await node.start();
  if (!isShared(store)) onClose(keepSettling(work.executionLog, o));
  onClose(await openAdded(o, work));
  onClose(() => work.executor.idle().then(() => work.accessTokens.idle()));
  const flows = await openFlows(toFlowOptions(o, ground, work));
  onClose(() => flows.close());
  onClose(keepSweeping(listUpkeep(o, ground, { ...work, flows }), o));

  const app = Promise.withResolvers<ReturnType<typeof createApp>>();
  const listener: Listener = await listen({
    ...o,
    fetch: async (request, env) => (await app.promise).fetch(request, env),
  });
  onClose(() => listener.close(GRACE_MS));
  const url = o.publicOrigin ?? toLocalOrigin(o.host, listener.port);
  const sessions = createOwnerSessions(store, now);
  const keys = createApiKeys(store, now);
  const secret = o.ingestSecret === undefined ? await findIngestSecret(o, store, work.serviceKeys) : o.ingestSecret;
  const spent = createSpentTokens(store, now);
  const ingestTokens = secret === null ? undefined : createIngestTokens({ secret, baseUrl: url, store: spent, now });
  const canonical = createCanonicalExecutions({
    ...work,
    log: work.executionLog,
    ingestTokens,
    idempotencyKeys: createIdempotencyKeys(store, now),
    now,
    waitForTwinMs: o.providerTimeoutMs ?? DEFAULT_PROVIDER_TIMEOUT_MS,
  });
  app.resolve(
    createApp({
      ...work,
      keys,
      sessions,
      pairing: createPairing({ store, keys, now, pairUrl: (token) => `${url}/pair/${token}` }),
      bootstrap: createBootstrap({ store, keys, now, baseUrl: url }),
      canonical,
      providerSignIns: createProviderSignIns({ ...ground, now, redirectUri: `${url}${SIGNED_IN_PATH}` }),
      oauth: createOAuth({ ...o, store, serviceKeys: work.serviceKeys, baseUrl: url, accountId }),
      mcpExtras: o.mcpExtras,
      node,
      ingestTokens,
      flows,
      flowApprovals: o.flowApprovals ?? "api",
      fileEnvelopes: o.fileEnvelopes ?? true,
      baseUrl: url,
      allowedHosts: listHosts(o, listener.port),
      now,
      log: o.log,
    }),
  );
  await folder.announce(url);
  return {
    url,
    dataDir,
    store,
    accountId,
    keys,
    connections: work.connections,
    signInUrl: async () => `${url}/sign-in?token=${await sessions.createLink(accountId)}`,
  };
}

/** The owner's account, made by the first start. */
async function openAccount(o: CheckedOptions, ground: Ground) {
  const known = await findAccount(ground.store);
  const accountId = known ?? createId("acc");
  const work = createWork(o, ground, accountId);
  if (known === undefined) await makeAccount(o, ground.store, { accountId, connections: work.connections });
  return { accountId, work };
}

/** What one process of a shared store signs, the others have to accept. */
function findIngestSecret({ dataDir }: CheckedOptions, store: Store, keys: ServiceKeys): Promise<string> {
  return isShared(store) ? keys.read("ingest", createSecret) : readIngestSecret(dataDir);
}

async function makeAccount(
  o: CheckedOptions,
  store: Store,
  { accountId, connections }: { accountId: string; connections: Connections },
): Promise<void> {
  await connectFirstApps(connections, o.integrations, typeof o.files === "string" ? o.files : o.dataDir);
  // Last, so that a first start that was cut short is begun again.
  const created_at = new Date(o.now()).toISOString();
  await store.insertInto("accounts").values({ id: accountId, created_at }).execute();
}

function createWork(o: CheckedOptions, { store, box, node, blobs }: Ground, accountId: string) {
  const { now, integrations, usageLimit } = o;
  const { catalog, replace } = createLiveCatalog(integrations);
  const seal = createSettingsSeal(box, catalog);
  const connections = createConnections({ store, accountId, catalog, seal, now });
  const accessTokens = createAccessTokens({ store, box, now });
  const log = createExecutionLog(store, now, { usageLimit, nodeId: node.id });
  const executor: Executor = createExecutor({
    catalog,
    connections,
    accessTokens,
    log,
    now,
    providerTimeoutMs: o.providerTimeoutMs ?? DEFAULT_PROVIDER_TIMEOUT_MS,
    onUnexpected: (cause) => o.log({ level: "error", message: "A tool failed unexpectedly.", cause }),
  });
  const urlFiles = createUrlFiles({ blobs, allowed: o.allowedFileHosts });
  const serviceKeys = createServiceKeys({ store, box, now });
  const ownFolders = [o.dataDir, ...(typeof o.files === "string" ? [o.files] : [])];
  const connector = createConnector({ connections, accessTokens, ownFolders });
  const activity = createActivity(store);
  const install = (added: readonly Integration[]) => replace([...integrations, ...added]);
  return {
    catalog,
    install,
    connections,
    connector,
    accessTokens,
    sources: createSourceStore(store, now),
    activity,
    executionLog: log,
    executor,
    blobs,
    urlFiles,
    serviceKeys,
  };
}

function toFlowOptions(o: CheckedOptions, ground: Ground, work: ReturnType<typeof createWork>): FlowsOptions {
  const { store } = ground;
  const { catalog, connections, executor } = work;
  // Nobody is there to upload a file by a hint.
  const files = { ...work, ingestTokens: undefined };
  const templates = findTemplates(catalog);
  const openEngine = chooseEngine(o);
  const node = { ...ground.node, isShared: isShared(store) };
  return { store, node, catalog, connections, executor, files, templates, openEngine, now: o.now, log: o.log };
}

/** A process that is alone with its store does not beat: what a full disk kept it from writing is tried again here. */
function keepSettling(executions: ExecutionLog, { heartbeatMs }: CheckedOptions): Undo {
  let settling = Promise.resolve();
  const settle = () => {
    settling = settling.then(() => executions.settle()).catch(() => {});
  };
  const timer = setInterval(settle, heartbeatMs).unref();
  return () => {
    clearInterval(timer);
    return settling;
  };
}

/** Something that is done every hour. */
interface Upkeep {
  /** What is logged when it cannot be done. */
  readonly failure: string;
  /** @param isStopping true when the service stops: what takes long breaks off. */
  run(isStopping: () => boolean): Promise<unknown>;
}

function listUpkeep(
  { now, retentionDays: days }: CheckedOptions,
  { store }: Ground,
  { blobs, flows }: { blobs: BlobStore; flows: Flows },
): Upkeep[] {
  const always: Upkeep[] = [
    { failure: "Old files could not be removed.", run: () => blobs.sweep() },
    { failure: "What has expired could not be removed.", run: () => forgetExpired(store, now()) },
    { failure: "The flow engine could not forget what has ended.", run: () => flows.tidy() },
  ];
  if (days === 0) return always;
  return [
    ...always,
    {
      failure: "Old executions and flows could not be removed.",
      run: (isStopping) => forgetEnded({ store, now, days, isStopping }),
    },
  ];
}

function keepSweeping(works: readonly Upkeep[], { log }: CheckedOptions): Undo {
  let isStopping = false;
  let sweeping = Promise.resolve();
  const sweep = async () => {
    for (const { failure, run } of works) {
      if (isStopping) return;
      await run(() => isStopping).catch((cause) => log({ level: "warn", message: failure, cause }));
    }
  };
  const queueSweep = () => {
    sweeping = sweeping.then(sweep);
  };
  queueSweep();
  const timer = setInterval(queueSweep, SWEEP_EVERY_MS).unref();
  return () => {
    isStopping = true;
    clearInterval(timer);
    return sweeping;
  };
}
