import { join } from "node:path";
import type { ApiKeys } from "./auth/api-keys.ts";
import type { Grants } from "./auth/grants.ts";
import type { Service } from "./create-service.ts";
import { createTemplates, type FlowTemplates } from "./flows/flow-templates.ts";
import { BUILT_IN_KEYS, findTemplates, openFlows } from "./flows/flows.ts";
import { openTemplateFiles } from "./flows/own/template-files.ts";
import { openWatch } from "./health/health.ts";
import type { McpFeatures } from "./mcp/mcp-features.ts";
import { createServiceMetrics } from "./metrics/service-metrics.ts";
import { createOutbox } from "./notify/outbox.ts";
import { openAddedApps } from "./open-added-apps.ts";
import { type Core, openCore } from "./open-core.ts";
import { openInfrastructure } from "./open-infrastructure.ts";
import { serveHttp } from "./serve-http.ts";
import type { ServiceLog } from "./service-error.ts";
import { type CheckedOptions, checkOptions, type ServiceOptions, warnOfPlainAddress } from "./service-options.ts";
import { inTurnOfStarts, isShared, type Store } from "./store/open-store.ts";
import { openTriggers, type Triggers } from "./triggers/triggers.ts";
import { keepSettling, openMachineLog, openSweeping } from "./upkeep.ts";

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

/**
 * Starts everything, or nothing: what was opened is closed again when a later step fails.
 *
 * @param mcpExtras what the MCP endpoint of a test offers beside the service's own.
 */
export async function openService(options: ServiceOptions, mcpExtras?: McpFeatures): Promise<OpenService> {
  const checked = checkOptions(options);
  warnOfPlainAddress(checked);
  const opened: Undo[] = [];
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= undoAll(opened, checked.log);
    return closing;
  };
  try {
    return { ...(await start(checked, mcpExtras, (undo) => opened.push(undo))), close };
  } catch (error) {
    // The log has the failures to close; the caller needs the reason why the start failed.
    await close().catch(() => {});
    throw error;
  }
}

async function start(
  o: CheckedOptions,
  mcpExtras: McpFeatures | undefined,
  onClose: (undo: Undo) => void,
): Promise<Omit<OpenService, "close">> {
  const infrastructure = await openInfrastructure(o, onClose);
  const { folder, store, node } = infrastructure;
  const watch = await openWatch(o, store);
  onClose(() => watch.close());
  const { accountId, core: opened } = await inTurnOfStarts(store, () => openCore(o, infrastructure));
  const metrics = o.metricsToken === undefined ? undefined : createServiceMetrics({ ...o, store, accountId });
  const core = metrics === undefined ? opened : { ...opened, executor: metrics.watchExecutor(opened.executor) };
  node.onBeat(async () => {
    await core.executionLog.settle();
    await core.executionLog.closeAbandoned();
    core.undo.settleSoon();
  });
  await node.start();
  if (!isShared(store)) onClose(keepSettling(core, o));
  const added = await openAddedApps(o, core);
  onClose(() => added.close());
  onClose(() => core.executionLog.flush());
  onClose(() => core.executor.idle().then(() => core.accessTokens.idle()));
  onClose(core.undo.stop);
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
  const served = { infrastructure, core, added, flows, triggers, outbox, metrics, watch, accountId, mcpExtras };
  const { url, listeningOn, keys, sessions, runningRequests } = await serveHttp(o, served, onClose);
  onClose(openMachineLog(o, store));
  onClose(core.delays.close);
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
