import type { ApiKeys } from "./auth/api-keys.ts";
import type { Connections } from "./connections/connections.ts";
import { type FlowsOptions, findTemplates, openFlows } from "./flows/flows.ts";
import { openWatch } from "./health/open-watch.ts";
import { openAdded } from "./open-added.ts";
import { type Ground, openGround } from "./open-ground.ts";
import { openWork, type Work } from "./open-work.ts";
import { serveHttp } from "./serve-http.ts";
import { type CheckedOptions, checkOptions, type ServiceOptions } from "./service-options.ts";
import type { Store } from "./store/open-store.ts";
import { inTurnOfStarts, isShared } from "./store/turns.ts";
import { type Undo, undoAll } from "./undo-all.ts";
import { keepSettling, keepSweeping } from "./upkeep.ts";

/** A running service with its inside, which only the service itself and the test kit may touch. */
export interface OpenService {
  readonly url: string;
  readonly dataDir: string;
  readonly store: Store;
  readonly accountId: string;
  readonly keys: ApiKeys;
  readonly connections: Connections;
  signInUrl(): Promise<string>;
  runningCalls(): number;
  close(): Promise<void>;
}

/** Starts everything, or nothing: what was opened is closed again when a later step fails. */
export async function openService(options: ServiceOptions): Promise<OpenService> {
  const checked = checkOptions(options);
  const opened: Undo[] = [];
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= undoAll(opened, checked.log);
    return closing;
  };
  try {
    return { ...(await start(checked, (undo) => opened.push(undo))), close };
  } catch (error) {
    // What cannot be closed is in the log; why it was not opened is what the caller has to know.
    await close().catch(() => {});
    throw error;
  }
}

async function start(o: CheckedOptions, onClose: (undo: Undo) => void): Promise<Omit<OpenService, "close">> {
  const ground = await openGround(o, onClose);
  const { folder, store, node } = ground;
  const watch = await openWatch(o, store);
  onClose(() => watch.close());
  const { accountId, work } = await inTurnOfStarts(store, () => openWork(o, ground));
  node.onBeat(() => work.executionLog.settle().then(() => work.executionLog.closeAbandoned()));
  await node.start();
  if (!isShared(store)) onClose(keepSettling(work.executionLog, o));
  onClose(await openAdded(o, work));
  onClose(() => work.executor.idle().then(() => work.accessTokens.idle()));
  const flows = await openFlows(toFlowOptions(o, ground, work));
  onClose(() => flows.close());
  await watch.start(work.connections);
  onClose(keepSweeping(o, { ...ground, watch }));
  const served = { ground, work, flows, watch, accountId };
  const { url, keys, sessions, runningRequests } = await serveHttp(o, served, onClose);
  await folder.announce(url);
  return {
    url,
    dataDir: o.dataDir,
    store,
    accountId,
    keys,
    connections: work.connections,
    signInUrl: async () => `${url}/sign-in?token=${await sessions.createLink(accountId)}`,
    // A request and its action are one call; an action goes on without its request, and the steps of flows have none.
    runningCalls: () => Math.max(runningRequests(), work.executor.running()),
  };
}

function toFlowOptions(o: CheckedOptions, ground: Ground, work: Work): FlowsOptions {
  const { store } = ground;
  const { catalog, connections, executor } = work;
  // Nobody is there to upload a file by a hint.
  const files = { ...work, ingestTokens: undefined };
  const templates = findTemplates(catalog);
  const node = { ...ground.node, isShared: isShared(store) };
  return { store, node, catalog, connections, executor, files, templates, now: o.now, log: o.log };
}
