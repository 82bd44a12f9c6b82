import { createState, type HostState } from "./isolated-state.ts";
import { type ScriptedModel, startScriptedModel } from "./scripted-model.ts";
import { configurePlugin, installPlugin, syncPlugin } from "./set-up-plugin.ts";
import { type Gateway, startGateway } from "./start-gateway.ts";
import { getProvided } from "./use-host.ts";

/** Longest time it may take to open one, in milliseconds: a bound for what hangs, on two very busy cores. */
export const OPEN_HOST_MS = 600_000;

/** A host that one test file has for itself. */
export interface OwnHost {
  readonly model: ScriptedModel;
  readonly state: HostState;
  /** Gateway that runs now; a test that ends it puts the next one here. */
  gateway: Gateway;
  /** Stops the gateway and removes everything; operators are closed before. */
  close(): Promise<void>;
}

/**
 * Opens a host with the packed plugin installed.
 * @param settings - of the plugin
 * @param options.synced - whether every action has a tool of its own when the gateway starts; needs a key in the settings
 */
export async function openOwnHost(settings: object, options: { readonly synced?: true } = {}): Promise<OwnHost> {
  const model = await startScriptedModel();
  const state = await createState({ modelUrl: model.url });
  const end = async () => {
    await model.close();
    await state.remove();
  };
  try {
    await installPlugin(state, getProvided().tarball);
    await configurePlugin(state, settings);
    if (options.synced) await syncPlugin(state);
    const host: OwnHost = {
      model,
      state,
      gateway: await startGateway(state),
      async close() {
        await host.gateway.stop();
        await end();
      },
    };
    return host;
  } catch (error) {
    await end();
    throw error;
  }
}
