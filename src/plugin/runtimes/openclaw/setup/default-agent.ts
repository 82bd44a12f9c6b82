import type { HostConfig } from "../host/host-api.ts";
import { type LoadSdk, loadSdk } from "../host/load-sdk.ts";

/** The agent whose key all others use. */
interface DefaultAgent {
  readonly id: string;
  /** Folder where the host keeps its keys; undefined where the host does not tell it. */
  readonly folder: string | undefined;
}

/**
 * The default agent of a host with several, which looks for keys and signs in for none of them by itself. Undefined where
 * there is one agent, which it does that for, and where the host is too old to tell.
 */
export async function findDefaultAgent(config: HostConfig, load: LoadSdk = loadSdk): Promise<DefaultAgent | undefined> {
  const sdk = (await load("agent-scope-runtime")) ?? {};
  const { listAgentIds: list, tryResolveDefaultAgentId: resolve, resolveAgentDir: locate } = sdk;
  const ids: unknown = typeof list === "function" ? list(config) : undefined;
  if (!Array.isArray(ids) || ids.length < 2) return undefined;
  const marked: unknown = typeof resolve === "function" ? resolve(config) : undefined;
  const id = [marked, ids.find((one) => one === "main"), ids[0]].find((one) => typeof one === "string");
  if (id === undefined) return undefined;
  const folder: unknown = typeof locate === "function" ? locate(config, id) : undefined;
  return { id, folder: typeof folder === "string" ? folder : undefined };
}
