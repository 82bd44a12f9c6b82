import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { vi } from "vitest";
import type { HostState } from "./isolated-state.ts";
import type { Operator } from "./operator.ts";

/** Of the configuration, as the gateway's log names it. */
type ReloadedPart = "plugins" | "tools" | "channels";

/** Some seconds on two idle cores; a very busy machine needs ten times as long. */
const LONGEST_RELOAD_MS = 120_000;

/**
 * Does what makes the running gateway reload its plugins, and comes back when it has. Within a reload the host takes
 * the tools away one after another and refuses calls of those it still lists, so nothing about them can be said then.
 * @param part Of the configuration: the reload of another one may still be under way from before.
 */
export async function throughReload<Result>(
  state: Pick<HostState, "folder">,
  work: () => Promise<Result>,
  part: ReloadedPart = "plugins",
): Promise<Result> {
  const before = await countReloads(state, part);
  const result = await work();
  await vi.waitFor(
    async () => {
      if ((await countReloads(state, part)) === before) throw new Error("The gateway has not finished a reload.");
    },
    { timeout: LONGEST_RELOAD_MS, interval: 250 },
  );
  return result;
}

/** A running gateway whose configuration an operator may change. */
export interface PatchedHost {
  readonly state: Pick<HostState, "folder">;
  readonly operator: Pick<Operator, "request">;
}

/**
 * Changes parts of the configuration of a running gateway, and comes back when it has taken them over; null takes a part
 * away.
 * @param part that is told as reloaded
 * @param emptied paths of lists that lose entries
 */
export async function patchConfig(
  { state, operator }: PatchedHost,
  change: object,
  part: ReloadedPart,
  emptied: readonly string[] = [],
): Promise<void> {
  const { hash } = await operator.request("config.get");
  const patch = { raw: JSON.stringify(change), baseHash: hash, replacePaths: emptied };
  await throughReload(state, () => operator.request("config.patch", patch), part);
}

async function countReloads({ folder }: Pick<HostState, "folder">, part: string): Promise<number> {
  const log = await readFile(join(folder, "openclaw.log"), "utf8");
  return log.split(new RegExp(`config hot reload applied \\([^)]*\\b${part}\\b`)).length;
}
