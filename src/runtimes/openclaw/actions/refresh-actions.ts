import type { AccountSession } from "../setup/account-session.ts";
import { type ActionRecord, type ActionsFile, isPlainRead, type PendingChanges } from "./actions-file.ts";
import { collectActions, describeActions } from "./collect-actions.ts";

/** What a refresh found. */
export interface RefreshReport {
  /** The file to keep: known tools with their descriptions and schemas of now. */
  readonly file: ActionsFile;
  /** How many known tools have another description or schema. */
  readonly updated: number;
  /** True when there is something a human has not been told of. */
  readonly hasNews: boolean;
}

/** Settings of {@link refreshActions}. */
export interface RefreshOptions {
  /** Full names to look at again; default all known ones, with a new list. */
  readonly only?: ReadonlySet<string> | undefined;
  /** Only these apps are listed; default all. */
  readonly integrations?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Brings known action tools up to date without a new agreement: descriptions and schemas. Tools that came or went are
 * reported, not taken over. A tool that was a plain read and is not any more is withdrawn until the next sync: the host
 * was told that it may repeat it.
 *
 * @throws SvcError for an unreachable service or a key it does not accept
 */
export async function refreshActions(
  account: AccountSession,
  current: ActionsFile,
  options: RefreshOptions,
): Promise<RefreshReport> {
  const { only, signal } = options;
  const list = only === undefined ? await listTools(account, current, options) : undefined;
  const looked = current.actions.filter(({ toolName }) => only?.has(toolName) ?? true);
  const names = looked.map(({ toolName }) => toolName).filter((name) => list?.removed.includes(name) !== true);
  const described = await describeActions(account.session.catalog, names, { signal });
  const { records } = collectActions([...described.entries.values()]);
  const { actions, changed, updated } = update(current.actions, records);
  const at = new Date(options.now()).toISOString();
  const pending = mergePending(current.pending, { at, added: list?.added, removed: list?.removed, changed });
  const file = { ...current, actions, checkedAt: only === undefined ? at : current.checkedAt };
  const { pending: _before, ...rest } = file;
  return {
    file: pending === undefined ? rest : { ...rest, pending },
    updated,
    hasNews: pending !== undefined && nameChanges(pending) !== nameChanges(current.pending),
  };
}

/** The full names that came and went since the sync. A cut list says nothing about what it does not name. */
async function listTools(account: AccountSession, current: ActionsFile, { integrations, signal }: RefreshOptions) {
  const { catalog } = account.session;
  const { omitted } = await catalog.sync({
    ...(integrations === undefined ? {} : { integrations }),
    ...(signal === undefined ? {} : { signal }),
  });
  const offered = catalog.list().filter(({ integration }) => integrations?.includes(integration) ?? true);
  const names = new Set(offered.map(({ name }) => name));
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
    const hasOtherEffect = now.effect !== old.effect || now.asksFirst !== old.asksFirst;
    if (hasOtherEffect) changed.push(old.toolName);
    if (isPlainRead(old) && !isPlainRead(now)) return [];
    if (now.schemaHash !== old.schemaHash || now.description !== old.description) updated += 1;
    return [{ ...now, name: old.name }];
  });
  return { actions, changed, updated };
}

interface Found {
  readonly at: string;
  readonly added: readonly string[] | undefined;
  readonly removed: readonly string[] | undefined;
  readonly changed: readonly string[];
}

/** A changed effect stays reported until the next sync; lists are as they were found last. */
function mergePending(before: PendingChanges | undefined, found: Found): PendingChanges | undefined {
  const pending = {
    at: found.at,
    added: found.added ?? before?.added ?? [],
    removed: found.removed ?? before?.removed ?? [],
    changed: [...new Set([...(before?.changed ?? []), ...found.changed])],
  };
  return nameChanges(pending) === nameChanges(undefined) ? undefined : pending;
}

function nameChanges(pending: PendingChanges | undefined): string {
  return JSON.stringify([pending?.added ?? [], pending?.changed ?? [], pending?.removed ?? []]);
}
