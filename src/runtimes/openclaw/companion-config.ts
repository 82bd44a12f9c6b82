import { COMPANION_ID } from "./companion.ts";
import type { HostApi } from "./host-api.ts";

/** What became of the host's configuration. */
export type ConfigReport =
  /** Written; a running gateway takes it over by itself, a stopped one when it starts. */
  | { readonly kind: "changed" }
  | { readonly kind: "unchanged" }
  /** The configuration cannot be written here. */
  | { readonly kind: "refused"; readonly reason: string };

type Draft = Record<string, unknown>;

/** Makes the host load the companion in `folder`; another `revision` makes a running gateway load it again. */
export async function addToConfig(api: HostApi, folder: string, revision: string): Promise<ConfigReport> {
  return changeConfig(api, (draft) => {
    const plugins = openObject(draft, "plugins");
    const load = openObject(plugins, "load");
    load.paths = including(readList(load.paths), folder);
    const entries = openObject(plugins, "entries");
    const entry = openObject(entries, COMPANION_ID);
    entry.enabled = true;
    entry.config = { revision };
    // A list names everything that may load: whoever let the main plugin in has agreed to this one by the sync.
    if (Array.isArray(plugins.allow)) plugins.allow = including(plugins.allow, COMPANION_ID);
  });
}

/** Takes the companion out of the host's configuration, leaving nothing of it behind. */
export async function removeFromConfig(api: HostApi, folder: string): Promise<ConfigReport> {
  return changeConfig(api, (draft) => {
    const { plugins } = draft;
    if (!isObject(plugins)) return;
    const { load, entries, allow } = plugins;
    if (isObject(load) && Array.isArray(load.paths)) {
      load.paths = without(load.paths, folder);
      dropIfEmpty(load, "paths");
      dropIfEmpty(plugins, "load");
    }
    if (isObject(entries)) {
      delete entries[COMPANION_ID];
      dropIfEmpty(plugins, "entries");
    }
    if (Array.isArray(allow)) plugins.allow = without(allow, COMPANION_ID);
  });
}

async function changeConfig(api: HostApi, edit: (draft: Draft) => void): Promise<ConfigReport> {
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
  if (isObject(present)) return present;
  const made: Draft = {};
  parent[key] = made;
  return made;
}

function dropIfEmpty(parent: Draft, key: string): void {
  const value = parent[key];
  const isEmpty = Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
  if (isEmpty) delete parent[key];
}

function including(list: readonly unknown[], item: string): readonly unknown[] {
  return list.includes(item) ? list : [...list, item];
}

function without(list: readonly unknown[], item: string): unknown[] {
  return list.filter((one) => one !== item);
}

function readList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function isObject(value: unknown): value is Draft {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
