import type { SessionEvent } from "../../../calls/session-events.ts";
import type { AccountSession } from "../setup/account-session.ts";
import { noteAccount, type SvcHost } from "../svc-host.ts";
import { loadRepair } from "../translate-tool.ts";
import { type ActionsFile, readActions, writeActions } from "./actions-file.ts";

/** Action tools looked at longer ago than this are compared with the service. */
const STALE_MS = 6 * 60 * 60 * 1_000;
/** How often a running gateway looks at the time. */
const TICK_MS = 15 * 60 * 1_000;

/** Clock and timer; for tests. */
export interface RefreshClock {
  readonly now: () => number;
  /** Calls `work` every `ms` milliseconds until the returned function is called; never keeps the process alive. */
  readonly every: (ms: number, work: () => void) => () => void;
}

/** Looks at the service now and then. */
export interface Refresher {
  /** Starts a look unless one is under way. */
  look(): void;
  stop(): Promise<void>;
}

/** Starts looking: at once when asked to, then at every tick of the clock. */
export function createRefresher(host: SvcHost, clock: RefreshClock): Refresher {
  const stopping = new AbortController();
  const changed = new Set<string>();
  let stopListening: (() => void) | undefined;
  let running: Promise<void> | undefined;
  let isAskedAgain = false;
  const listen = (account: AccountSession) => {
    stopListening?.();
    stopListening = account.onEvent((event) => {
      const tool = findChangedTool(host, account, event);
      if (tool === undefined) return;
      changed.add(tool);
      look();
    });
  };
  const work = async () => {
    await loadRepair();
    if (readActions(host.places.actions) === undefined) return;
    const { inSyncTurn } = await import("./apply-sync.ts");
    const current = await inSyncTurn(host.places, () => restoreCompanion(host));
    if (current === undefined) return;
    const account = await host.openAccount(undefined);
    noteAccount(host, undefined, account.session.principal);
    listen(account);
    if (account.session.principal !== current.principal) return;
    await refresh(host, account, current, { changed, now: clock.now, signal: stopping.signal });
  };
  const look = () => {
    isAskedAgain = running !== undefined;
    if (isAskedAgain || stopping.signal.aborted) return;
    running = work()
      .catch((error: unknown) => {
        if (!stopping.signal.aborted) host.log.warn(`svc could not look for changed tools: ${describe(error)}`);
      })
      .finally(() => {
        running = undefined;
        if (isAskedAgain) look();
      });
  };
  const stopTicking = clock.every(TICK_MS, look);
  return {
    look,
    async stop() {
      stopTicking();
      stopListening?.();
      stopping.abort();
      await running;
    },
  };
}

/** Another version of this plugin may have written it differently; names that are not in the file never come back. */
async function restoreCompanion(host: SvcHost): Promise<ActionsFile | undefined> {
  const current = readActions(host.places.actions);
  if (current === undefined) return undefined;
  const { writeCompanion } = await import("./companion.ts");
  await writeCompanion(host.places, current.actions);
  return current;
}

/** Tools whose schema is not the one offered: told by the pipeline for those that may act, seen after a call for all. */
function findChangedTool(host: SvcHost, account: AccountSession, event: SessionEvent): string | undefined {
  if (event.type === "schema_changed") return event.change.tool;
  if (event.type !== "finished") return undefined;
  const known = account.session.catalog.peek(event.toolName)?.schemaHash;
  const offered = readActions(host.places.actions)?.actions.find(({ toolName }) => toolName === event.toolName);
  return known === undefined || offered === undefined || offered.schemaHash === known ? undefined : event.toolName;
}

interface Look {
  /** Tools whose schema a call found changed; taken out when they are looked at. */
  readonly changed: Set<string>;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

async function refresh(host: SvcHost, account: AccountSession, current: ActionsFile, look: Look): Promise<void> {
  const isStale = look.now() - Date.parse(current.checkedAt) >= STALE_MS;
  const only = isStale ? undefined : new Set(look.changed);
  if (only?.size === 0) return;
  look.changed.clear();
  const { refreshActions } = await import("./refresh-actions.ts");
  const { integrations } = host.settings().actions;
  const report = await refreshActions(account, current, { only, integrations, now: look.now, signal: look.signal });
  const { inSyncTurn } = await import("./apply-sync.ts");
  const isWritten = await inSyncTurn(host.places, async () => {
    // A sync of a human in between wins.
    if (readActions(host.places.actions) !== current) return false;
    await writeActions(host.places.actions, report.file);
    return true;
  });
  if (!isWritten) return;
  if (report.updated > 0) host.log.info(`svc: new descriptions or arguments of ${report.updated} action tools.`);
  const { pending } = report.file;
  if (report.hasNews && pending !== undefined) {
    const { added, removed, changed } = pending;
    const counts = `${added.length} new, ${removed.length} gone, ${changed.length} with another effect`;
    host.log.info(`svc: the tools of your apps have changed (${counts}). Run: openclaw svc sync`);
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
