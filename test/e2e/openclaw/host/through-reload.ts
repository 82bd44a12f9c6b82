import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { vi } from "vitest";
import type { HostState } from "./isolated-state.ts";

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
  part: "plugins" | "tools" = "plugins",
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

async function countReloads({ folder }: Pick<HostState, "folder">, part: string): Promise<number> {
  const log = await readFile(join(folder, "openclaw.log"), "utf8");
  return log.split(new RegExp(`config hot reload applied \\([^)]*\\b${part}\\b`)).length;
}
