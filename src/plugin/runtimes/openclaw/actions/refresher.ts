import type { SessionEvent } from "../../../calls/session-events.ts";
import type { AccountSession } from "../setup/account-session.ts";
import type { SvcHost } from "../svc-host.ts";
import { loadRepair } from "../translate-tool.ts";
import {
  type ActionRecord,
  type ActionsFile,
  isPlainRead,
  type PendingChanges,
  readActions,
  writeActions,
} from "./actions-file.ts";
import { inSyncTurn } from "./apply-sync.ts";
import { collectActions, listOffered } from "./collect-actions.ts";
import { writeCompanion } from "./companion.ts";

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
export type Refresher = ReturnType<typeof createRefresher>;

/** Starts looking: at once when asked to, and at every tick of the clock. */
export function createRefresher(host: SvcHost, clock: RefreshClock) {
  const stopping = new AbortController();
  /** Tools whose schema a call found changed; taken out when they are looked at. */
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
    const current = await inSyncTurn(host.places, () => restoreCompanion(host));
    if (current === undefined) return;
    const account = await host.openAccount(undefined);
    host.seenAccounts.set(undefined, account.session.principal);
    listen(account);
    if (account.session.principal !== current.principal) return;
    const isStale = clock.now() - Date.parse(current.checkedAt) >= STALE_MS;
    if (!isStale && changed.size === 0) return;
    const only = isStale ? undefined : new Set(changed);
    changed.clear();
    const at = new Date(clock.now()).toISOString();
    await keep(host, current, await refreshActions(host, account, current, { only, at, signal: stopping.signal }));
  };
  const look = () => {
    isAskedAgain = running !== undefined;
    if (isAskedAgain || stopping.signal.aborted) return;
    running = work()
      .catch((error: unknown) => {
        if (stopping.signal.aborted) return;
        host.log.warn(
          `svc could not look for changed tools: ${error instanceof Error ? error.message : String(error)}`,
        );
      })
      .finally(() => {
        running = undefined;
        if (isAskedAgain) look();
      });
  };
  const stopTicking = clock.every(TICK_MS, look);
  return {
    /** Starts a look unless one is under way. */
    look,
    async stop(): Promise<void> {
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
  if (current !== undefined) await writeCompanion(host.places, current.actions);
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

type Refreshed = Awaited<ReturnType<typeof refreshActions>>;

async function keep(host: SvcHost, current: ActionsFile, { file, updated }: Refreshed): Promise<void> {
  const isWritten = await inSyncTurn(host.places, async () => {
    // A sync of a human in between wins.
    if (readActions(host.places.actions) !== current) return false;
    await writeActions(host.places.actions, file);
    return true;
  });
  if (!isWritten) return;
  if (updated > 0) host.log.info(`svc: new descriptions or arguments of ${updated} action tools.`);
  const { pending } = file;
  if (pending === undefined || nameChanges(pending) === nameChanges(current.pending)) return;
  const { added, removed, changed } = pending;
  const counts = `${added.length} new, ${removed.length} gone, ${changed.length} with another effect`;
  host.log.info(`svc: the tools of your apps have changed (${counts}). Run: openclaw svc sync`);
}

/**
 * Brings known action tools up to date without a new agreement: descriptions and schemas. Tools that came or went are
 * reported, not taken over. A tool that was a plain read and is not any more is withdrawn until the next sync: the host
 * was told that it may repeat it.
 *
 * @param o.only full names to look at again; undefined: all known ones, with a new list
 * @param o.at ISO time of the look
 * @returns the file to keep, and how many known tools have another description or schema
 */
async function refreshActions(
  host: SvcHost,
  account: AccountSession,
  current: ActionsFile,
  o: { readonly only: ReadonlySet<string> | undefined; readonly at: string; readonly signal: AbortSignal },
) {
  const { only, at, signal } = o;
  const list = only === undefined ? await listChanges(host, account, current, signal) : undefined;
  const known = current.actions.map(({ toolName }) => toolName);
  const names = known.filter((name) => only?.has(name) ?? !list?.removed.includes(name));
  const { records } = await collectActions(account.session.catalog, names, signal);
  const { actions, changed, updated } = update(current.actions, records);
  const { pending: before, ...rest } = current;
  // A changed effect stays reported until the next sync; lists are as they were found last.
  const pending: PendingChanges = {
    at,
    added: list?.added ?? before?.added ?? [],
    removed: list?.removed ?? before?.removed ?? [],
    changed: [...new Set([...(before?.changed ?? []), ...changed])],
  };
  const file: ActionsFile = { ...rest, actions, checkedAt: only === undefined ? at : current.checkedAt };
  return { file: nameChanges(pending) === nameChanges(undefined) ? file : { ...file, pending }, updated };
}

/** Full names added and removed since the sync. With a cut list, a missing name does not count as removed. */
async function listChanges(host: SvcHost, { session }: AccountSession, current: ActionsFile, signal: AbortSignal) {
  const { integrations } = host.settings().actions;
  const { listed, omitted } = await listOffered(session.catalog, integrations, signal);
  const names = new Set(listed.map(({ name }) => name));
  const agreed = new Set(current.listed);
  return {
    added: [...names].filter((name) => !agreed.has(name)),
    removed: current.actions.map(({ toolName }) => toolName).filter((name) => omitted.length === 0 && !names.has(name)),
  };
}

function update(before: readonly ActionRecord[], records: readonly ActionRecord[]) {
  const fresh = new Map(records.map((record) => [record.toolName, record]));
  const changed: string[] = [];
  let updated = 0;
  const actions = before.flatMap((old): ActionRecord[] => {
    const now = fresh.get(old.toolName);
    if (now === undefined) return [old];
    if (now.effect !== old.effect || now.asksFirst !== old.asksFirst) changed.push(old.toolName);
    if (isPlainRead(old) && !isPlainRead(now)) return [];
    if (now.schemaHash !== old.schemaHash || now.description !== old.description) updated += 1;
    return [{ ...now, name: old.name }];
  });
  return { actions, changed, updated };
}

function nameChanges(pending: PendingChanges | undefined): string {
  return JSON.stringify([pending?.added ?? [], pending?.changed ?? [], pending?.removed ?? []]);
}
