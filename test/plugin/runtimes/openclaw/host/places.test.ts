import { mkdir, mkdtemp, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createMediaRoots } from "../../../../../src/plugin/media/open/roots.ts";
import { createPlaces, listMediaPlaces } from "../../../../../src/plugin/runtimes/openclaw/host/places.ts";
import { readEnvironment } from "../../../../../src/plugin/runtimes/openclaw/setup/read-environment.ts";

let base: string;

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "svc-places-")));
});

afterEach(() => rm(base, { recursive: true, force: true }));

describe("the host's media folder", () => {
  test.each<[string, Record<string, string>, string]>([
    ["lies in the state folder", { OPENCLAW_STATE_DIR: "/data/.openclaw" }, "/data/.openclaw/media"],
    ["lies there under the home folder", { OPENCLAW_STATE_DIR: "~/oc" }, "/home/x/oc/media"],
    [
      "lies there wherever the configuration is",
      { OPENCLAW_STATE_DIR: "/s", OPENCLAW_CONFIG_PATH: "/c/openclaw.json" },
      "/s/media",
    ],
    ["lies beside a configuration that alone is named", { OPENCLAW_CONFIG_PATH: "/c/openclaw.json" }, "/c/media"],
    ["lies in the usual folder", {}, "/home/x/.openclaw/media"],
    ["follows the host's own home folder", { OPENCLAW_HOME: "/srv/oc" }, "/srv/oc/.openclaw/media"],
  ])("%s", (_what, variables, folder) => {
    expect(readEnvironment({ HOME: "/home/x", ...variables }).mediaDir).toBe(folder);
  });
});

describe("a folder in mediaRoots", () => {
  async function open(folder: string, stateDir = join(base, "state"), mediaDir?: string) {
    await mkdir(join(stateDir, "svc"), { recursive: true });
    const { mediaRoots, privateFolders } = listMediaPlaces(createPlaces(stateDir, mediaDir), [folder]);
    const roots = await createMediaRoots(mediaRoots, { privateFolders });
    await roots.close();
  }

  test.each(["workspace", "workspace-work/out", "sandboxes/main", "canvas", "media/browser", "../elsewhere"])(
    "may be %s of the state folder",
    async (name) => {
      await open(join(base, "state", name));
    },
  );

  test.each([".", "..", "svc", "svc/accounts", "agents", "credentials", "secrets", "extensions", "logs", "workspaces"])(
    "may not be %s of the state folder",
    async (name) => {
      await expect(open(join(base, "state", name))).rejects.toMatchObject({
        code: "invalid_config",
        field: "mediaRoots",
      });
    },
  );

  test("may not lead there by a link, nor be the folder of a configuration elsewhere", async () => {
    await mkdir(join(base, "state/agents"), { recursive: true });
    await symlink(join(base, "state/agents"), join(base, "harmless"));
    await expect(open(join(base, "harmless"))).rejects.toMatchObject({ code: "invalid_config" });
    const config = join(base, "config");
    await expect(open(join(config, "keys"), undefined, join(config, "media"))).rejects.toMatchObject({
      code: "invalid_config",
    });
  });
});
