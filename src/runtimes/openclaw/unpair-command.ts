import { openCredentialStore } from "../../pairing/credentials.ts";
import { removeSync } from "./apply-sync.ts";
import { answer, type CommandAnswer, refuse } from "./command-answer.ts";
import { forgetStoredKeys } from "./forget-key.ts";
import type { HostApi } from "./host-api.ts";
import type { HostConfig } from "./host-config.ts";
import { forgetKeyOrigin, readKeyOrigin } from "./key-origins.ts";
import type { SvcHost } from "./svc-host.ts";

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
