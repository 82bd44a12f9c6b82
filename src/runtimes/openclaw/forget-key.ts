import type { HostApi } from "./host-api.ts";
import type { HostConfig } from "./host-config.ts";
import { PROVIDER_ID } from "./host-names.ts";
import { loadSdk } from "./load-sdk.ts";

/**
 * Takes the plugin's keys out of the host's credential store, for every agent, and their names out of its
 * configuration. False when the host cannot do that, or its store is busy: the keys are still there then.
 */
export async function forgetStoredKeys(api: HostApi, config: HostConfig): Promise<boolean> {
  const [auth, agents] = await Promise.all([loadSdk("provider-auth"), loadSdk("agent-scope-runtime")]);
  const remove = auth?.removeProviderAuthProfilesWithLock;
  if (typeof remove !== "function") return false;
  for (const agentDir of [undefined, ...listAgentFolders(agents, config)]) {
    const left: unknown = await remove({ cfg: config, provider: PROVIDER_ID, ...(agentDir ? { agentDir } : {}) });
    if (left === null) return false;
  }
  if (namesProfile(config)) {
    await api.runtime.config.mutateConfigFile({ afterWrite: { mode: "auto" }, mutate: dropProfiles });
  }
  return true;
}

function listAgentFolders(sdk: Awaited<ReturnType<typeof loadSdk>>, config: HostConfig): string[] {
  const { listAgentIds: list, resolveAgentDir: resolve } = sdk ?? {};
  if (typeof list !== "function" || typeof resolve !== "function") return [];
  const ids: unknown = list(config);
  if (!Array.isArray(ids)) return [];
  return ids.map((id): unknown => resolve(config, id)).filter((folder): folder is string => typeof folder === "string");
}

function namesProfile(config: HostConfig): boolean {
  return listProfileMaps(config).some((profiles) => Object.entries(profiles).some(isOurs));
}

function dropProfiles(draft: Record<string, unknown>): void {
  for (const map of listProfileMaps(draft)) {
    for (const entry of Object.entries(map)) if (isOurs(entry)) delete map[entry[0]];
  }
}

/** `auth.profiles` by profile id and `auth.order` by provider. */
function listProfileMaps(config: HostConfig): Record<string, unknown>[] {
  const auth = readRecord(config.auth);
  return [readRecord(auth.profiles), readRecord(auth.order)];
}

function isOurs([name, value]: [string, unknown]): boolean {
  return name === PROVIDER_ID || readRecord(value).provider === PROVIDER_ID;
}

function readRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
