import { PROVIDER_ID } from "../host/host-sign-in.ts";
import { loadSdk } from "../host/load-sdk.ts";
import { spellAddress } from "../setup/plugin-settings.ts";
import type { CliCall } from "./cli-commands.ts";
import { askLine, canAsk, say } from "./cli-output.ts";
import { answer, type CommandAnswer, refuse } from "./command-answer.ts";

/**
 * `openclaw svc pair`: the host's own sign-in, so that key, agents and gateway are treated as after
 * `openclaw models auth login`; works without a terminal too, where the link and the code are printed.
 */
export async function pairInTerminal(
  { host }: CliCall,
  { baseUrl }: Readonly<Record<string, unknown>>,
): Promise<CommandAnswer> {
  const wanted = typeof baseUrl === "string" ? spellAddress(baseUrl) : undefined;
  const set = host.settings().baseUrl;
  if (wanted !== undefined && set !== undefined && wanted !== set) {
    return refuse(
      `The settings say ${set}. To use ${wanted}: openclaw config set plugins.entries.svc.config.baseUrl ${wanted}`,
    );
  }
  const { runModelsAuthLoginFlow: signIn } = (await loadSdk("provider-auth-login-flow-runtime")) ?? {};
  if (typeof signIn !== "function") {
    return refuse("This OpenClaw signs in only so: openclaw models auth login --provider svc --method pair");
  }
  const runtime = { log: say, error: say, exit: refuseExit };
  await signIn({ provider: PROVIDER_ID, method: "pair", runtime, prompter: createTerminalPrompter(wanted) });
  return answer("Paired.", { paired: true });
}

/** The host's prompter over plain lines. */
function createTerminalPrompter(baseUrl: string | undefined) {
  const note = async (message: string, title?: string) => say(title === undefined ? message : `${title}\n${message}`);
  const choose = async ({ options }: { readonly options: readonly { readonly value: unknown }[] }) =>
    // Asked only where models are restricted; there are none here, so nothing is to be changed.
    (options.find(({ value }) => value === "keep") ?? options[0])?.value;
  return {
    note,
    plain: note,
    intro: async () => undefined,
    outro: async () => undefined,
    text: async ({ message, initialValue }: { readonly message: string; readonly initialValue?: string }) =>
      baseUrl ?? (canAsk() ? askLine(`${message}:`, initialValue) : (initialValue ?? "")),
    select: choose,
    multiselect: async () => [],
    confirm: async () => false,
    progress: () => ({ update: () => undefined, stop: (line?: string) => line !== undefined && say(line) }),
  };
}

function refuseExit(code: number): never {
  throw new Error(`The sign-in ended with code ${code}; see its error above.`);
}
