import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createState, type HostState } from "../../test/e2e/openclaw/host/isolated-state.ts";
import { runOpenClaw } from "../../test/e2e/openclaw/host/run-openclaw.ts";
import { packForOpenClaw } from "../../test/package/pack-for-openclaw.ts";
import { PACKAGE_ROOT } from "../../test/package/read-package.ts";
import { runCommand } from "../../test/package/run-command.ts";

/** One OpenClaw with or without a plugin in it. */
export interface Candidate {
  readonly name: string;
  /** Id of the plugin; undefined: none is installed. */
  readonly pluginId: string | undefined;
  readonly state: HostState;
}

/** Nothing listens here: the model is never asked. */
const MODEL_URL = "http://127.0.0.1:9/v1";

/** Three states of the host that differ in the plugin only; both plugins are installed from tarballs. */
export async function prepareCandidates(folder: string): Promise<Candidate[]> {
  const empty = await packEmpty(join(folder, "empty"));
  const ours = await packForOpenClaw(PACKAGE_ROOT, folder);
  return [
    {
      name: "no plugin",
      pluginId: undefined,
      state: await createState({ modelUrl: MODEL_URL }),
    },
    await install("a plugin that registers nothing", "nothing", empty),
    await install("svc", "svc", ours.path),
  ];
}

async function install(name: string, pluginId: string, tarball: string): Promise<Candidate> {
  const state = await createState({ modelUrl: MODEL_URL });
  const flags = ["--force", "--accept-capabilities"];
  const run = await runOpenClaw(state, ["plugins", "install", tarball, ...flags]);
  if (run.code !== 0) throw new Error(`${pluginId} could not be installed:\n${run.stdout}${run.stderr}`);
  return { name, pluginId, state };
}

/** The least a plugin can be. Returns its tarball. */
async function packEmpty(folder: string): Promise<string> {
  await mkdir(folder);
  const manifest = { id: "nothing", name: "nothing", version: "1.0.0", activation: { onStartup: true } };
  const configSchema = { type: "object", additionalProperties: false, properties: {} };
  await writeFile(join(folder, "openclaw.plugin.json"), JSON.stringify({ ...manifest, configSchema }));
  const compat = { pluginApi: ">=2026.9.6", minGatewayVersion: "2026.9.6" };
  const packageJson = {
    ...{ name: "openclaw-nothing", version: "1.0.0", type: "module" },
    openclaw: { extensions: ["./index.js"], compat },
  };
  await writeFile(join(folder, "package.json"), JSON.stringify(packageJson));
  await writeFile(join(folder, "index.js"), 'export default { id: "nothing", name: "nothing", register() {} };\n');
  const pack = await runCommand("npm", ["pack", "--ignore-scripts", "--json"], folder);
  if (pack.code !== 0) throw new Error(`npm pack failed:\n${pack.stderr}`);
  const [{ filename }] = JSON.parse(pack.stdout) as [{ filename: string }];
  return join(folder, filename);
}
