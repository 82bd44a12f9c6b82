import { isRecord } from "../../../base/json.ts";
import { openCredentialStore } from "../../../pairing/credentials.ts";
import { removeSync } from "../actions/apply-sync.ts";
import type { HostApi, HostConfig } from "../host/host-api.ts";
import { PROVIDER_ID } from "../host/host-sign-in.ts";
import { askGateway, loadSdk } from "../host/load-sdk.ts";
import { forgetKeyOrigin, readKeyOrigin } from "../setup/key-origins.ts";
import type { SvcHost } from "../svc-host.ts";
import type { CliCall } from "./cli-commands.ts";
import { answer, type CommandAnswer, EXIT, refuse } from "./command-answer.ts";

/** Forgets the key and takes the action tools away; says what stays. */
export async function unpair(host: SvcHost, api: HostApi, config: HostConfig): Promise<CommandAnswer> {
  // A key that belongs to another address is to be forgotten all the same.
  const found = await host.findKey(undefined).catch(() => undefined);
  const origin = found && (await readKeyOrigin(host.places, found.apiKey));
  await removeSync(host, api);
  if (!(await forgetStoredKeys(api, config))) {
    return refuse(
      "The action tools are gone, but OpenClaw's credential store could not be changed: it is busy or too old. Run: openclaw models auth logout svc:default",
    );
  }
  if (found !== undefined) await forgetKeyOrigin(host.places, found.apiKey);
  await openCredentialStore(host.places.state).clear();
  await host.close();
  const stays = describeRest(found, origin?.deviceLabel);
  const text =
    found === undefined ? "Nothing was paired." : "Unpaired: key and action tools are gone from this machine.";
  return answer([text, ...stays.map((line) => `Stays: ${line}`)].join("\n"), { unpaired: found !== undefined, stays });
}

function describeRest(found: Awaited<ReturnType<SvcHost["findKey"]>>, deviceLabel: string | undefined): string[] {
  const device = deviceLabel === undefined ? "the device" : `the device "${deviceLabel}"`;
  return [
    ...(found === undefined
      ? []
      : [
          `the key itself, on the service. A service revokes keys only in its dashboard: remove ${device} at ${found.baseUrl}.`,
        ]),
    ...(found?.source === "environment" ? ["SVC_API_KEY in the environment: take it out there, it still works."] : []),
    ...(found?.source === "config" ? ["plugins.entries.svc.config.apiKey in openclaw.json: it still works."] : []),
    "what you always allowed, the journal of writes and stored results, for the next pairing with the same account.",
  ];
}

/** `openclaw svc unpair`: a running gateway remembers keys it has read, so it is told to look again. */
export async function unpairInTerminal({ host, api, config }: CliCall): Promise<CommandAnswer> {
  const answer = await unpair(host, api, config);
  if (answer.exit !== EXIT.ok) return answer;
  const told = await askGateway("models.authRefresh", { operation: "logout" }, "operator.admin");
  if (told.ok || isAbsent(told.message)) return answer;
  const text = `${answer.text}\nA running gateway may remember the key (${told.message}): openclaw gateway restart`;
  return { ...answer, text };
}

/** Nothing listens: the gateway is stopped, and reads the store when it starts. */
function isAbsent(message: string): boolean {
  return message.includes("ECONNREFUSED");
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
  if (namesProfile(config)) {
    await api.runtime.config.mutateConfigFile({ afterWrite: { mode: "auto" }, mutate: dropProfiles });
  }
  return true;
}

function listAgentFolders(sdk: Awaited<ReturnType<typeof loadSdk>>, config: HostConfig): string[] {
  const { listAgentIds: list, resolveAgentDir: resolve } = sdk ?? {};
  if (typeof list !== "function" || typeof resolve !== "function") return [];
  const ids: unknown = list(config);
  if (!Array.isArray(ids)) return [];
  return ids.map((id): unknown => resolve(config, id)).filter((folder): folder is string => typeof folder === "string");
}

function namesProfile(config: HostConfig): boolean {
  return listProfileMaps(config).some((profiles) => Object.entries(profiles).some(isOurs));
}

function dropProfiles(draft: Record<string, unknown>): void {
  for (const map of listProfileMaps(draft)) {
    for (const entry of Object.entries(map)) if (isOurs(entry)) delete map[entry[0]];
  }
}

/** `auth.profiles` by profile id and `auth.order` by provider. */
function listProfileMaps(config: HostConfig): Record<string, unknown>[] {
  const auth = readRecord(config.auth);
  return [readRecord(auth.profiles), readRecord(auth.order)];
}

function isOurs([name, value]: [string, unknown]): boolean {
  return name === PROVIDER_ID || readRecord(value).provider === PROVIDER_ID;
}

function readRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}
