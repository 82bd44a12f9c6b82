import { cp, rm } from "node:fs/promises";
import { afterAll, beforeAll, inject, vi } from "vitest";
import type { ServiceOptions } from "../../../../src/service/service-options.ts";
import { aimExchange } from "./exchange.ts";
import { type HostService, startHostService } from "./host-service.ts";
import { type Invocation, invokeTool } from "./invoke-tool.ts";
import { connectOperator, type Operator } from "./operator.ts";
import type { ProvidedHost } from "./provide-host.ts";
import { type ScriptedModel, startScriptedModel } from "./scripted-model.ts";

// Bounds for what hangs: on two very busy cores a turn with a dozen calls takes minutes, and so does a command.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

/** The shared host as one test file sees it. */
export interface SharedHost extends Pick<ProvidedHost, "gateway" | "state"> {
  /** The service the plugin is paired with, as it was right after pairing. */
  readonly service: HostService;
  readonly model: ScriptedModel;
  readonly operator: Operator;
  /** Calls a tool over HTTP, past the agent. */
  invoke(tool: string, args?: object): Promise<Invocation>;
  /** Lets the plugin reach what listens on this port of loopback; `service.port` is right, 0 cuts it off. */
  redirect(port: number): Promise<void>;
}

/**
 * Gives a test file the shared gateway with a service, a model and an operator of its own. Every file begins with the
 * service as pairing left it; sessions of the gateway stay, so use a `sessionKey` of your own per test.
 */
export function useHost(options: Partial<ServiceOptions> = {}): () => SharedHost {
  let host: SharedHost | undefined;
  beforeAll(async () => {
    host = await openHost(getProvided(), options);
  });
  afterAll(async () => {
    if (host === undefined) return;
    await host.operator.close();
    await host.redirect(0);
    await host.service.close();
    await host.model.close();
  });
  return () => {
    if (host === undefined) throw new Error("The host is there once the tests run.");
    return host;
  };
}

async function openHost(provided: ProvidedHost, options: Partial<ServiceOptions>): Promise<SharedHost> {
  const { gateway, state } = provided;
  const { dataDir, asPaired, port, controlPort } = provided.service;
  await rm(dataDir, { recursive: true, force: true });
  await cp(asPaired, dataDir, { recursive: true });
  const service = await startHostService({ dataDir, publicUrl: `http://127.0.0.1:${port}`, ...options });
  const redirect = (to: number) => aimExchange(controlPort, to);
  await redirect(service.port);
  const model = await startScriptedModel();
  await aimExchange(provided.model.controlPort, model.port);
  const operator = await connectOperator(gateway, state);
  const invoke = (tool: string, args?: object) => invokeTool(gateway, state, tool, args);
  return { gateway, state, service, model, operator, invoke, redirect };
}

/** What the suite's set-up provided. @throws with its failure, when it failed */
export function getProvided(): ProvidedHost {
  const provided = inject("openclaw");
  if ("failure" in provided) throw new Error(`The host could not be set up: ${provided.failure}`);
  return provided;
}
