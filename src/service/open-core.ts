import type { Integration } from "../apps/port/integration.ts";
import { makeOnce } from "../shared/base/concurrency.ts";
import { createId } from "../shared/base/ids.ts";
import { createAccess } from "./access/access-view.ts";
import { createRules } from "./access/rules.ts";
import { createSourceStore } from "./added/source-store.ts";
import { createGrants } from "./auth/grants.ts";
import { addFirstPerson } from "./auth/people.ts";
import { createLiveCatalog } from "./catalog/catalog.ts";
import type { Connections } from "./connections/connection.ts";
import { connectFirstApps, createConnections, isFirstApp } from "./connections/connections.ts";
import { createConnector } from "./connections/connector.ts";
import { createAccessTokens } from "./connections/sign-in/access-tokens.ts";
import { createActivity } from "./executions/activity.ts";
import { createDelays } from "./executions/delays.ts";
import { createExecutor, type Executor } from "./executions/execute-tool.ts";
import { createExecutionLog } from "./executions/execution-log.ts";
import { createKeptWrites } from "./executions/undo/kept-writes.ts";
import { addUndo } from "./executions/undo/undo-action.ts";
import { createUndoRecords } from "./executions/undo/undo-records.ts";
import type { createUrlFiles, UrlFiles } from "./fetch/url-files.ts";
import type { Infrastructure } from "./open-infrastructure.ts";
import { createServiceKeys } from "./secrets/service-keys.ts";
import { createSettingsSeal } from "./secrets/settings-seal.ts";
import type { CheckedOptions } from "./service-options.ts";
import { findAccount, type Store } from "./store/open-store.ts";
import { createKeep, type StoreState } from "./store/store-states.ts";

/** Parts that run tools: catalog, connections, executor and their records. */
export type Core = ReturnType<typeof createCore>;

/**
 * Opens what carries tools out for the owner's account, which the first start makes: only one process at a time may be
 * here.
 */
export async function openCore(
  o: CheckedOptions,
  infrastructure: Infrastructure,
): Promise<{ accountId: string; core: Core }> {
  const known = await findAccount(infrastructure.store);
  const accountId = known ?? createId("acc");
  const core = createCore(o, infrastructure, accountId);
  if (known === undefined) await makeAccount(o, infrastructure.store, { accountId, connections: core.connections });
  return { accountId, core };
}

async function makeAccount(
  o: CheckedOptions,
  store: Store,
  { accountId, connections }: { accountId: string; connections: Connections },
): Promise<void> {
  await connectFirstApps(connections, o.integrations, findFirstFolder(o));
  // Last, so that a first start that was cut short is begun again.
  const created_at = new Date(o.now()).toISOString();
  await store.transaction().execute(async (transaction) => {
    await addFirstPerson(transaction, accountId, o.now());
    await transaction.insertInto("accounts").values({ id: accountId, created_at }).execute();
  });
}

/** The folder below which the first start connects an app each. */
function findFirstFolder({ files, dataDir }: CheckedOptions): string {
  return typeof files === "string" ? files : dataDir;
}

function createCore(o: CheckedOptions, { store, states, box, node, blobs }: Infrastructure, accountId: string) {
  const { now } = o;
  const log = openLog(o, store, node.id);
  const kept = createKeptWrites({ store, box, now, isOff: o.undoMegabytes === 0 });
  const delays = createDelays({ store, now });
  const integrations = o.integrations.map((app) => addUndo(app, { accountId, log, kept, delays, now }));
  const { catalog, replace } = createLiveCatalog(integrations);
  const seal = createSettingsSeal(box, catalog);
  const connections = createConnections({ store, accountId, catalog, seal, now });
  const accessTokens = createAccessTokens({ store, box, now });
  const rules = createRules(store, accountId, now);
  const grants = createGrants(store, now);
  const apps = createAppsFollower();
  const access = createAccess({ states, catchUp: apps.catchUp, grants, catalog, connections, rules, now });
  const run = {
    accessTokens,
    now,
    providerTimeoutMs: o.providerTimeoutMs,
    trace: o.trace,
    canUndo: o.undoMegabytes > 0,
  };
  const undo = createUndoRecords({ ...run, kept, log, catalog, connections, nodeId: node.id });
  const executor: Executor = createExecutor({
    ...run,
    access,
    catalog,
    connections,
    log,
    undo,
    delays,
    onUnexpected: (cause) => o.log({ level: "error", message: "A tool failed unexpectedly.", cause }),
  });
  const urlFiles = createLazyUrlFiles({ blobs, allowed: o.allowedFileHosts });
  const serviceKeys = createServiceKeys({ store, box, now });
  const firstFolder = findFirstFolder(o);
  const connector = createConnector({
    connections,
    accessTokens,
    ownFolders: [...new Set([o.dataDir, firstFolder])],
    isFirstApp: (connection) => isFirstApp(connection, firstFolder),
  });
  const activity = createActivity(store, log.flush);
  const install = (added: readonly Integration[]) => replace([...integrations, ...added]);
  return {
    states,
    grants,
    access,
    catalog,
    install,
    followApps: apps.follow,
    connections,
    connector,
    rules,
    accessTokens,
    sources: createSourceStore(store, now),
    activity,
    undo,
    delays,
    executionLog: log,
    executor,
    blobs,
    urlFiles,
    serviceKeys,
  };
}

function openLog({ now, usageLimit, log }: CheckedOptions, store: Store, nodeId: string) {
  const onLost = (cause: unknown) =>
    log({ level: "error", message: "A read could not be written into the log.", cause });
  return createExecutionLog(store, now, { usageLimit, nodeId, onLost });
}

/** The same as `createUrlFiles`, whose code is loaded by the first call that names a URL. */
function createLazyUrlFiles(o: Parameters<typeof createUrlFiles>[0]): UrlFiles {
  const open = makeOnce(async () => (await import("./fetch/url-files.ts")).createUrlFiles(o));
  return { fetch: async (...asked) => (await open()).fetch(...asked) };
}

/** Makes the catalog that of the newest state of the store: other processes change added apps too. */
function createAppsFollower() {
  const keep = createKeep<true | undefined>(1);
  let refresh: () => Promise<boolean> = async () => true;
  return {
    follow(next: () => Promise<boolean>): void {
      refresh = next;
    },
    /** Resolves when the apps of this state are in use, or cannot be read at the moment. */
    async catchUp(state: StoreState): Promise<void> {
      await keep(state, "", async () => (await refresh()) || undefined);
    },
  };
}
