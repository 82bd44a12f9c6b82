import { mkdir, rm } from "node:fs/promises";
import { isRecord } from "../../../../shared/base/json.ts";
import { type LockLimits, withWriteLock } from "../../../../shared/base/write-lock.ts";
import type { HostApi, HostConfig } from "../host/host-api.ts";
import type { Places } from "../host/places.ts";
import type { SvcHost } from "../svc-host.ts";
import { writeActions } from "./actions-file.ts";
import { COMPANION_ID, writeCompanion } from "./companion.ts";
import type { SyncPlan } from "./plan-sync.ts";

interface ApplyReport {
  readonly tools: number;
  readonly config: ConfigReport;
  /** One sentence for the human: when the tools are there, or what is left to do by hand. */
  readonly next: string;
}

/** Whether the host's configuration was edited; a running gateway takes a change over by itself, a stopped one at its start. */
type ConfigReport = { readonly kind: "changed" | "unchanged" } | { readonly kind: "refused"; readonly reason: string };

/**
 * Carries out a plan a human agreed to: action tools, companion plugin, and the line in the host's configuration that
 * loads it. A plan without tools removes all three.
 */
export async function applySync(host: SvcHost, api: HostApi, { next }: Pick<SyncPlan, "next">): Promise<ApplyReport> {
  if (next.actions.length === 0) return removeSync(host, api);
  const { companion, actions } = host.places;
  return inSyncTurn(host.places, async () => {
    const revision = await writeCompanion(host.places, next.actions);
    // After the companion: a running gateway offers new tools once it has loaded their names.
    await writeActions(actions, next);
    const config = await addToConfig(api, companion, revision);
    return { tools: next.actions.length, config, next: describeNext(config, companion, next.actions.length) };
  });
}

/** Removes the action tools: first from the host's configuration, then from the disk. Fine when there are none. */
export async function removeSync(host: SvcHost, api: HostApi): Promise<ApplyReport> {
  const { companion, actions } = host.places;
  const config = await inSyncTurn(host.places, async () => {
    const changed = await removeFromConfig(api, companion);
    await rm(actions, { force: true });
    if (changed.kind !== "refused") await rm(companion, { recursive: true, force: true });
    return changed;
  });
  const next =
    config.kind === "refused"
      ? `The configuration could not be written (${config.reason}): take ${companion} out of plugins.load.paths by hand.`
      : "There are no action tools any more; svc_call_tool still reaches every tool.";
  return { tools: 0, config, next };
}

function describeNext(config: ConfigReport, folder: string, tools: number): string {
  switch (config.kind) {
    case "changed":
      return [
        `Done: ${tools} tools. A running gateway reloads its plugins now, some seconds without tools, and then offers the tools; a stopped one when it starts.`,
        "While an agent is at work or a call waits for you, it keeps the tools it has and does not try again. Afterwards run: openclaw plugins reload svc-actions",
      ].join("\n");
    case "unchanged":
      return `Done: ${tools} tools work, under the names they had. Should one be missing in a chat: openclaw plugins reload svc-actions`;
    case "refused":
      return `The configuration could not be written (${config.reason}): add ${folder} to plugins.load.paths by hand.`;
  }
}

type Draft = Record<string, unknown>;

/** Makes the host load the companion in `folder`; another `revision` makes a running gateway load it again. */
async function addToConfig(api: HostApi, folder: string, revision: string): Promise<ConfigReport> {
  return changeConfig(api, (draft) => {
    const plugins = openObject(draft, "plugins");
    const load = openObject(plugins, "load");
    load.paths = including(load.paths, folder);
    const entry = openObject(openObject(plugins, "entries"), COMPANION_ID);
    entry.enabled = true;
    entry.config = { revision };
    // A list names everything that may load: the human who let the main plugin in has agreed to this one by the sync.
    if (Array.isArray(plugins.allow)) plugins.allow = including(plugins.allow, COMPANION_ID);
  });
}

/** Takes the companion out of the host's configuration, leaving nothing of it behind. */
async function removeFromConfig(api: HostApi, folder: string): Promise<ConfigReport> {
  return changeConfig(api, (draft) => {
    const { plugins } = draft;
    if (!isRecord(plugins)) return;
    const { load, entries, allow } = plugins;
    if (isRecord(load) && Array.isArray(load.paths)) {
      load.paths = without(load.paths, folder);
      dropIfEmpty(load, "paths");
      dropIfEmpty(plugins, "load");
    }
    if (isRecord(entries)) {
      delete entries[COMPANION_ID];
      dropIfEmpty(plugins, "entries");
    }
    if (Array.isArray(allow)) plugins.allow = without(allow, COMPANION_ID);
  });
}

/** True when the configuration loads the companion in `folder`. */
export function loadsCompanion(config: HostConfig, folder: string): boolean {
  const plugins = isRecord(config.plugins) ? config.plugins : {};
  const load = isRecord(plugins.load) ? plugins.load : {};
  const entry = isRecord(plugins.entries) ? plugins.entries[COMPANION_ID] : undefined;
  if (isRecord(entry) && entry.enabled === false) return false;
  if (Array.isArray(plugins.allow) && plugins.allow.length > 0 && !plugins.allow.includes(COMPANION_ID)) return false;
  return readList(load.paths).includes(folder);
}

/** Edits the configuration of the host; says so where it cannot be written. */
export async function changeConfig(api: HostApi, edit: (draft: Draft) => void): Promise<ConfigReport> {
  const { config } = api.runtime;
  const trial = structuredClone(config.current()) as Draft;
  const before = JSON.stringify(trial);
  edit(trial);
  if (JSON.stringify(trial) === before) return { kind: "unchanged" };
  try {
    await config.mutateConfigFile({ afterWrite: { mode: "auto" }, mutate: edit });
    return { kind: "changed" };
  } catch (error) {
    return { kind: "refused", reason: error instanceof Error ? error.message : String(error) };
  }
}

function openObject(parent: Draft, key: string): Draft {
  const present = parent[key];
  if (isRecord(present)) return present;
  const made: Draft = {};
  parent[key] = made;
  return made;
}

function dropIfEmpty(parent: Draft, key: string): void {
  const value = parent[key];
  const isEmpty = Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0;
  if (isEmpty) delete parent[key];
}

function including(list: unknown, item: string): unknown[] {
  return [...new Set([...readList(list), item])];
}

function without(list: readonly unknown[], item: string): unknown[] {
  return list.filter((one) => one !== item);
}

function readList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The host takes seconds to change its configuration on a busy machine. */
const LIMITS: LockLimits = { staleAfterMs: 60_000, giveUpAfterMs: 90_000, field: "actions" };

/**
 * Runs `work` while no other sync, removal or refresh of this state folder changes the action tools, in this process or
 * another: tools, names and configuration are three files, and must be of one sync.
 *
 * @throws SvcError `invalid_config` when another one does not end within 90 s
 */
export async function inSyncTurn<Result>(places: Places, work: () => Promise<Result>): Promise<Result> {
  await mkdir(places.state, { recursive: true, mode: 0o700 });
  return withWriteLock(`${places.actions}.lock`, work, LIMITS);
}
