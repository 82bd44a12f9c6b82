import type { TestService } from "../../../../src/testing.ts";
import type { HostState } from "./isolated-state.ts";
import { mustRunOpenClaw, startOpenClaw } from "./run-openclaw.ts";

/** Address of an approval page, as pairing prints it. */
export const PAIR_LINK = /https?:\/\/\S+\/pair\/[\w-]+/;

/** Installs the packed plugin as its users do. */
export async function installPlugin(state: HostState, tarball: string): Promise<void> {
  await mustRunOpenClaw(state, ["plugins", "install", tarball, "--force", "--accept-capabilities"]);
}

/** Gives the installed plugin its settings, in place of the ones it had. */
export async function configurePlugin(state: HostState, settings: object): Promise<void> {
  await state.editConfig((config) => {
    const { plugins } = config as { plugins: { entries: Record<string, object> } };
    plugins.entries.svc = { ...plugins.entries.svc, config: settings };
  });
}

/** Pairs with `openclaw svc pair`; the owner's click is made over HTTP. Returns what it printed. */
export async function pairPlugin(state: HostState, service: Pick<TestService, "url" | "decide">): Promise<string> {
  const running = startOpenClaw(state, ["svc", "pair", "--base-url", service.url]);
  running.endInput();
  const [link] = await running.waitFor(PAIR_LINK);
  await service.decide(link);
  const { code, stdout, stderr } = await running.done;
  if (code !== 0) throw new Error(`openclaw svc pair ended with code ${code}:\n${stdout}${stderr}`);
  return stdout + stderr;
}

/** Gives every action a tool of its own. */
export async function syncPlugin(state: HostState): Promise<string> {
  return mustRunOpenClaw(state, ["svc", "sync", "--yes"]);
}
