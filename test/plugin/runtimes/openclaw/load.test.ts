import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

/** What a host pays for having the plugin at all: every command of its command line loads the entry and registers it. */

const SRC = new URL("../../../../src/", import.meta.url);
const MODES = ["full", "discovery", "tool-discovery", "cli-metadata"];

/** Imports a door in a fresh process, registers what it holds, and lists the modules that were loaded for it. */
async function listLoaded(door: string, mode: string): Promise<string[]> {
  const source = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    const { default: entry } = await import(${JSON.stringify(new URL(door, SRC).href)});
    // Answers to every name; in "cli-metadata" the host's runtime throws when it is touched.
    const host = new Proxy(function () {}, {
      get: (_target, name) => {
        if (name === "registrationMode") return ${JSON.stringify(mode)};
        if (name === "runtime" && ${JSON.stringify(mode)} === "cli-metadata") throw new Error("runtime is unavailable");
        return name === "pluginConfig" || name === "config" || name === "then" ? undefined : host;
      },
      apply: () => undefined,
    });
    entry?.register(host);
    await new Promise((resolve) => setImmediate(resolve));
    console.log(JSON.stringify(loaded));`;
  const home = "/nonexistent/svc-load-test";
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", source], {
    env: { HOME: home, OPENCLAW_STATE_DIR: home },
  });
  return JSON.parse(stdout);
}

/** Modules that are neither of Node itself, nor the entry, nor light, nor of the room that keeps to this rule. */
function findHeavy(loaded: readonly string[]): string[] {
  return loaded
    .map((url) => url.replace(SRC.href, ""))
    .filter(
      (path) =>
        !/^node:|^(openclaw|shared\/errors|plugin\/client\/redact|shared\/base\/[a-z-]+|plugin\/runtimes\/openclaw\/[a-z/-]+)\.ts$|^plugin\/runtimes\/openclaw\/static-tools\.json$/.test(
          path,
        ),
    );
}

describe("the OpenClaw entry", () => {
  it.each(MODES)("loads no package and no other room in mode %s", async (mode) => {
    const loaded = await listLoaded("openclaw.ts", mode);
    expect(loaded).toContain(new URL("openclaw.ts", SRC).href);
    expect(findHeavy(loaded)).toEqual([]);
    expect(
      loaded.filter((url) => /\/(ask|commands|doctor|files)\/|refresher|account-session|find-key/.test(url)),
    ).toEqual([]);
  });

  it("would be found out: another door loads packages and rooms", async () => {
    const heavy = findHeavy(await listLoaded("index.ts", "full"));
    expect(heavy.some((path) => path.includes("/node_modules/zod/"))).toBe(true);
    expect(heavy).toContain("plugin/calls/session.ts");
  });
});
