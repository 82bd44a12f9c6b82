import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { buildCheckout } from "../../../package/pack-checkout.ts";
import { packForOpenClaw } from "../../../package/pack-for-openclaw.ts";
import { aimExchange, openExchange } from "./exchange.ts";
import { startHostService } from "./host-service.ts";
import { createState, type HostState } from "./isolated-state.ts";
import { installPlugin, pairPlugin, syncPlugin } from "./set-up-plugin.ts";
import { type Gateway, startGateway } from "./start-gateway.ts";

/** What every test file of the suite finds ready. */
export interface ProvidedHost {
  /** The packed plugin. */
  readonly tarball: string;
  /** The shared gateway, with the plugin installed, paired and synced. */
  readonly gateway: Pick<Gateway, "url">;
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

/** Does a step of the set-up and says how long it took; a busy machine needs minutes for all of them. */
async function tell<Result>(step: string, work: Promise<Result>): Promise<Result> {
  const begun = performance.now();
  const result = await work;
  process.stdout.write(`openclaw: ${step}, ${((performance.now() - begun) / 1000).toFixed(1)} s\n`);
  return result;
}

/** Path of a fresh tarball for OpenClaw. */
async function packPlugin(folder: string): Promise<string> {
  const copy = await buildCheckout(folder);
  return (await packForOpenClaw(copy, folder)).path;
}

async function prepareHost(defer: (close: () => Promise<void>) => void): Promise<ProvidedHost> {
  const folder = await mkdtemp(join(tmpdir(), "svc-openclaw-suite-"));
  defer(() => rm(folder, { recursive: true, force: true }));
  const [serviceLine, modelLine] = [await openExchange(), await openExchange()];
  defer(async () => void (await Promise.all([serviceLine.close(), modelLine.close()])));

  const dataDir = join(folder, "service");
  const publicUrl = `http://127.0.0.1:${serviceLine.port}`;
  const tarball = await tell("packed", packPlugin(folder));
  const state = await createState({ modelUrl: `http://127.0.0.1:${modelLine.port}/v1` });
  defer(() => state.remove());
  await tell("installed", installPlugin(state, tarball));
  const service = await startHostService({ dataDir, publicUrl });
  try {
    await aimExchange(serviceLine.controlPort, service.port);
    await tell("paired", pairPlugin(state, service));
    await tell("synced", syncPlugin(state));
  } finally {
    await service.close();
  }
  const asPaired = join(folder, "service-as-paired");
  await cp(dataDir, asPaired, { recursive: true });

  const gateway = await tell("gateway started", startGateway(state));
  defer(() => gateway.stop());
  const { folder: stateFolder, stateDir, workspace, configPath, port, token, node, env } = state;
  return {
    tarball,
    gateway: { url: gateway.url },
    state: { folder: stateFolder, stateDir, workspace, configPath, port, token, node, env },
    service: { port: serviceLine.port, controlPort: serviceLine.controlPort, dataDir, asPaired },
    model: { controlPort: modelLine.controlPort },
  };
}
