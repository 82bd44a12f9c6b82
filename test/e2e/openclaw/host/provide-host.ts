import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { packForOpenClaw } from "../../../package/pack-for-openclaw.ts";
import { PACKAGE_ROOT } from "../../../package/read-package.ts";
import { TOKEN } from "../../../service/triggers/trigger-lab.ts";
import { aimExchange, openExchange } from "./exchange.ts";
import { keepGateway } from "./gateway-line.ts";
import { startHostService } from "./host-service.ts";
import { createState, type HostState } from "./isolated-state.ts";
import { installPlugin, pairPlugin, syncPlugin } from "./set-up-plugin.ts";
import type { Gateway } from "./start-gateway.ts";

/** What every test file of the suite finds ready. */
export interface ProvidedHost {
  /** The packed plugin. */
  readonly tarball: string;
  /** The shared gateway, with the plugin installed, paired and synced, and the port by which it is started again. */
  readonly gateway: Pick<Gateway, "url"> & { readonly controlPort: number };
  /** What the command line said while the plugin was paired and synced. */
  readonly said: { readonly pairing: string; readonly sync: string };
  readonly state: Pick<
    HostState,
    "folder" | "stateDir" | "workspace" | "configPath" | "port" | "token" | "node" | "env"
  >;
  /** The service it is paired with: its address, its folder, and a copy of that folder as pairing left it. */
  readonly service: {
    readonly port: number;
    readonly controlPort: number;
    readonly dataDir: string;
    readonly asPaired: string;
  };
  readonly model: { readonly controlPort: number };
}

declare module "vitest" {
  interface ProvidedContext {
    /** The host, or why there is none. */
    openclaw: ProvidedHost | { readonly failure: string };
  }
}

/**
 * Packs the plugin once and starts one gateway with it for all files of the suite. A failure is told to every file
 * instead of stopping tests of other suites.
 */
export default async function provideHost(project: TestProject): Promise<() => Promise<void>> {
  const cleanups: (() => Promise<void>)[] = [];
  const cleanUp = async () => {
    for (const close of cleanups.reverse()) await close();
  };
  try {
    project.provide("openclaw", await prepareHost((close) => cleanups.push(close)));
  } catch (error) {
    project.provide("openclaw", { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
  return cleanUp;
}

/** Hooks that a service may call. */
const CONFIG = { hooks: { enabled: true, token: TOKEN, path: "/hooks" } };

/** Does a step of the set-up and says how long it took; a busy machine needs minutes for all of them. */
async function tell<Result>(step: string, work: Promise<Result>): Promise<Result> {
  const begun = performance.now();
  const result = await work;
  process.stdout.write(`openclaw: ${step}, ${((performance.now() - begun) / 1000).toFixed(1)} s\n`);
  return result;
}

async function prepareHost(defer: (close: () => Promise<void>) => void): Promise<ProvidedHost> {
  const folder = await mkdtemp(join(tmpdir(), "svc-openclaw-suite-"));
  defer(() => rm(folder, { recursive: true, force: true }));
  const [serviceLine, modelLine] = [await openExchange(), await openExchange()];
  defer(async () => void (await Promise.all([serviceLine.close(), modelLine.close()])));

  const dataDir = join(folder, "service");
  const publicUrl = `http://127.0.0.1:${serviceLine.port}`;
  const { path: tarball } = await tell("packed", packForOpenClaw(PACKAGE_ROOT, folder));
  const modelUrl = `http://127.0.0.1:${modelLine.port}/v1`;
  const state = await createState({ modelUrl, config: CONFIG, hasTwoAgents: true });
  defer(() => state.remove());
  await tell("installed", installPlugin(state, tarball));
  const service = await startHostService({ dataDir, publicUrl });
  let said = { pairing: "", sync: "" };
  try {
    await aimExchange(serviceLine.controlPort, service.port);
    const pairing = await tell("paired", pairPlugin(state, service));
    said = { pairing, sync: await tell("synced", syncPlugin(state)) };
  } finally {
    await service.close();
  }
  const asPaired = join(folder, "service-as-paired");
  await cp(dataDir, asPaired, { recursive: true });

  const gateway = await tell("gateway started", keepGateway(state));
  defer(() => gateway.stop());
  const { folder: stateFolder, stateDir, workspace, configPath, port, token, node, env } = state;
  return {
    tarball,
    gateway: { url: gateway.url, controlPort: gateway.controlPort },
    said,
    state: { folder: stateFolder, stateDir, workspace, configPath, port, token, node, env },
    service: { port: serviceLine.port, controlPort: serviceLine.controlPort, dataDir, asPaired },
    model: { controlPort: modelLine.controlPort },
  };
}
