import { isRecord } from "../../../../shared/base/json.ts";
import { openCredentialStore } from "../../../pairing/credentials.ts";
import { changeConfig, removeSync } from "../actions/apply-sync.ts";
import { type HostApi, type HostConfig, PROVIDER_ID } from "../host/host-api.ts";
import { askGateway, loadSdk } from "../host/load-sdk.ts";
import { findDefaultAgent } from "../setup/default-agent.ts";
import { forgetKeyOrigin, readKeyOrigin } from "../setup/find-key.ts";
import { NEXT_STEP } from "../setup/pair-method.ts";
import { spellAddress } from "../setup/plugin-settings.ts";
import type { SvcHost } from "../svc-host.ts";
import {
  answer,
  askLine,
  askYesNo,
  type CliCall,
  type CommandAnswer,
  canAsk,
  EXIT,
  type Flags,
  refuse,
  say,
} from "./command-answer.ts";

/**
 * `openclaw svc pair`: the host's own sign-in, so that key, agents and gateway are treated as after
 * `openclaw models auth login`; works without a terminal too, where the link and the code are printed. In a terminal it
 * ends with the offer of a sync.
 */
export async function pairInTerminal(call: CliCall, { baseUrl, agent }: Flags): Promise<CommandAnswer> {
  const { host, config } = call;
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
  const exit = (code: number): never => {
    throw new Error(`The sign-in ended with code ${code}; see its error above.`);
  };
  const runtime = { log: say, error: say, exit };
  const main = (await findDefaultAgent(config))?.id;
  const owner = typeof agent === "string" ? agent : main;
  const prompter = createTerminalPrompter(wanted);
  await signIn({ provider: PROVIDER_ID, method: "pair", agent: owner, runtime, prompter });
  if (main !== undefined && owner !== main) {
    const text = `Paired agent ${owner} with a key of its own: svc_call_tool reaches its tools. Action tools are for the key of ${main}.`;
    return answer(text, { paired: true, agent: owner });
  }
  return (await import("./sync-command.ts")).offerSync(call);
}

function createTerminalPrompter(baseUrl: string | undefined) {
  // The step that pairing names next is offered here at its end.
  const note = async (message: string, title?: string) => {
    const lines = message.split("\n").filter((line) => !line.startsWith(NEXT_STEP));
    say([...(title === undefined ? [] : [title]), ...lines].join("\n"));
  };
  return {
    note,
    plain: note,
    intro: async () => undefined,
    outro: async () => undefined,
    text: async ({ message, initialValue }: { readonly message: string; readonly initialValue?: string }) =>
      baseUrl ?? (canAsk() ? askLine(`${message}:`, initialValue) : (initialValue ?? "")),
    // Asked only where models are restricted; there are none here, so nothing is to be changed.
    select: async ({ options }: { readonly options: readonly { readonly value: unknown }[] }) =>
      (options.find(({ value }) => value === "keep") ?? options[0])?.value,
    multiselect: async () => [],
    confirm: async () => false,
    progress: () => ({ update: () => undefined, stop: (line?: string) => line !== undefined && say(line) }),
  };
}

/** Forgets the key and takes the action tools away; says what stays. */
export async function unpair(host: SvcHost, api: HostApi, config: HostConfig): Promise<CommandAnswer> {
  // A key that belongs to another address, or that the host cannot show, is to be forgotten all the same.
  const found = await host.findKey(undefined).catch(() => "hidden" as const);
  if (found === "hidden") return forgetHidden(host, api, config);
  const origin = found && (await readKeyOrigin(host.places, found.apiKey));
  const refusal = await forget(host, api, config);
  if (refusal !== undefined) return refusal;
  if (found !== undefined) await forgetKeyOrigin(host.places, found.apiKey);
  const stays = describeRest(found, origin?.deviceLabel);
  const text =
    found === undefined ? "Nothing was paired." : "Unpaired: key and action tools are gone from this machine.";
  return answer([text, ...stays.map((line) => `Stays: ${line}`)].join("\n"), { unpaired: found !== undefined, stays });
}

/** Takes action tools and keys away; what to do by hand where the host does not let go. */
async function forget(host: SvcHost, api: HostApi, config: HostConfig): Promise<CommandAnswer | undefined> {
  await removeSync(host, api);
  if (!(await forgetStoredKeys(api, config))) {
    return refuse(
      "The action tools are gone, but OpenClaw's credential store could not be changed: it is busy or too old. Run: openclaw models auth logout svc:default",
    );
  }
  await openCredentialStore(host.places.state).clear();
  await host.close();
  return undefined;
}

async function forgetHidden(host: SvcHost, api: HostApi, config: HostConfig): Promise<CommandAnswer> {
  const refusal = await forget(host, api, config);
  const text = "Unpaired: key and action tools are gone from this machine.\nStays: the key itself, on its service.";
  return refusal ?? answer(`${text} Remove the device in its dashboard.`, { unpaired: true, stays: [] });
}

function describeRest(found: Awaited<ReturnType<SvcHost["findKey"]>>, deviceLabel: string | undefined): string[] {
  const stays = [
    "what you always allowed, the journal of writes and stored results, for the next pairing by the same owner.",
  ];
  if (found?.source === "config") stays.unshift("plugins.entries.svc.config.apiKey in openclaw.json: it still works.");
  if (found?.source === "environment")
    stays.unshift("SVC_API_KEY in the environment: take it out there, it still works.");
  if (found === undefined) return stays;
  const device = deviceLabel === undefined ? "the device" : `the device "${deviceLabel}"`;
  const where = `remove ${device} at ${found.baseUrl}.`;
  return [`the key itself, on the service. A service revokes keys only in its dashboard: ${where}`, ...stays];
}

const FORGET = "This forgets the key, which only a human can make again, and takes the action tools away.";

/** `openclaw svc unpair`: asks; a running gateway remembers keys it has read, so it is told to look again. */
export async function unpairInTerminal({ host, api, config }: CliCall, flags: Flags): Promise<CommandAnswer> {
  if (flags.yes !== true) {
    if (!canAsk()) return refuse(`${FORGET} Nobody can be asked here: go on with --yes.`, EXIT.notApproved);
    if (!(await askYesNo(`${FORGET} Go on?`))) return refuse("Nothing was changed.", EXIT.notApproved);
  }
  const unpaired = await unpair(host, api, config);
  if (unpaired.exit !== EXIT.ok) return unpaired;
  const agentId = (await findDefaultAgent(config))?.id;
  const told = await askGateway("models.authRefresh", { operation: "logout", agentId }, "operator.admin");
  // Nothing listens: the gateway is stopped, and reads the store when it starts.
  if (told.ok || told.message.includes("ECONNREFUSED")) return unpaired;
  const text = `${unpaired.text}\nA running gateway may remember the key (${told.message}): openclaw gateway restart`;
  return { ...unpaired, text };
}

/**
 * Takes the plugin's keys out of the host's credential store, for every agent, and their names out of its
 * configuration. False when the host cannot do that, or its store is busy: the keys are still there then.
 */
async function forgetStoredKeys(api: HostApi, config: HostConfig): Promise<boolean> {
  const [auth, agents] = await Promise.all([loadSdk("provider-auth"), loadSdk("agent-scope-runtime")]);
  const remove = auth?.removeProviderAuthProfilesWithLock;
  if (typeof remove !== "function") return false;
  for (const agentDir of [undefined, ...listAgentFolders(agents, config)]) {
    const left: unknown = await remove({ cfg: config, provider: PROVIDER_ID, ...(agentDir ? { agentDir } : {}) });
    if (left === null) return false;
  }
  const changed = await changeConfig(api, dropProfiles);
  if (changed.kind === "refused") throw new Error(changed.reason);
  return true;
}

function listAgentFolders(sdk: Awaited<ReturnType<typeof loadSdk>>, config: HostConfig): string[] {
  const { listAgentIds: list, resolveAgentDir: resolve } = sdk ?? {};
  if (typeof list !== "function" || typeof resolve !== "function") return [];
  const ids: unknown = list(config);
  if (!Array.isArray(ids)) return [];
  return ids.map((id): unknown => resolve(config, id)).filter((folder) => typeof folder === "string");
}

/** `auth.profiles` goes by profile id, `auth.order` by provider. */
function dropProfiles({ auth }: Record<string, unknown>): void {
  for (const entries of isRecord(auth) ? [auth.profiles, auth.order].filter(isRecord) : []) {
    for (const [name, value] of Object.entries(entries)) {
      if (name === PROVIDER_ID || (isRecord(value) && value.provider === PROVIDER_ID)) delete entries[name];
    }
  }
}
