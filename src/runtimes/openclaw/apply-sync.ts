import { rm } from "node:fs/promises";
import { type ActionsFile, writeActions } from "./actions-file.ts";
import { removeCompanion, writeCompanion } from "./companion.ts";
import { addToConfig, type ConfigReport, removeFromConfig } from "./companion-config.ts";
import type { HostApi } from "./host-api.ts";
import type { SvcHost } from "./svc-host.ts";
import type { SyncPlan } from "./sync-plan.ts";
import { inSyncTurn } from "./sync-turn.ts";

/** What an applied sync did. */
export interface ApplyReport {
  /** How many action tools there are now. */
  readonly tools: number;
  readonly config: ConfigReport;
  /** One sentence for the human: when the tools are there, or what is left to do by hand. */
  readonly next: string;
}

/**
 * Carries out a plan a human agreed to: action tools, companion plugin, and the line in the host's configuration that
 * loads it. A plan without tools removes all three.
 */
export async function applySync(host: SvcHost, api: HostApi, plan: Pick<SyncPlan, "next">): Promise<ApplyReport> {
  const { next: file } = plan;
  if (file.actions.length === 0) return removeSync(host, api);
  return inSyncTurn(host.places, async () => {
    const revision = await installActions(host, file);
    const config = await addToConfig(api, host.places.companion, revision);
    return { tools: file.actions.length, config, next: describeNext(config, host.places.companion) };
  });
}

/** Removes the action tools: first from the host's configuration, then from the disk. Fine when there are none. */
export async function removeSync(host: SvcHost, api: HostApi): Promise<ApplyReport> {
  const { companion, actions } = host.places;
  const config = await inSyncTurn(host.places, async () => {
    const changed = await removeFromConfig(api, companion);
    await rm(actions, { force: true });
    if (changed.kind !== "refused") await removeCompanion(host.places);
    return changed;
  });
  const next =
    config.kind === "refused"
      ? `The configuration could not be written (${config.reason}): take ${companion} out of plugins.load.paths by hand.`
      : "There are no action tools any more; svc_call_tool still reaches every tool.";
  return { tools: 0, config, next };
}

/** Writes both sides of the tools; the file last. A running gateway offers what is new once it has loaded the names. */
async function installActions(host: SvcHost, next: ActionsFile): Promise<string> {
  const revision = await writeCompanion(host.places, next.actions);
  await writeActions(host.places.actions, next);
  return revision;
}

function describeNext(config: ConfigReport, folder: string): string {
  switch (config.kind) {
    case "changed":
      return [
        "A running gateway now reloads its plugins, some seconds without tools, and then offers the tools; a stopped one when it starts.",
        "While an agent is at work or a call waits for you, it keeps the tools it has and does not try again. Afterwards run: openclaw plugins reload svc-actions",
      ].join("\n");
    case "unchanged":
      return "The names are as before; new descriptions count from the next turn on. Where a gateway lacks some: openclaw plugins reload svc-actions";
    case "refused":
      return `The configuration could not be written (${config.reason}): add ${folder} to plugins.load.paths by hand.`;
  }
}
