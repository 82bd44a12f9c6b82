import { openCredentialStore } from "../../pairing/credentials.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { endSignIn } from "./logout.ts";

/** `svc unpair`: deletes the stored key, whose revoking is done in the dashboard, and ends a sign-in. */
export async function unpair(context: CliContext): Promise<number> {
  const store = openCredentialStore(context.places.config);
  // A damaged file holds nothing to name, and is forgotten all the same.
  const stored = await store.read().catch(() => undefined);
  const ended = await endSignIn(context).catch(() => undefined);
  await store.clear();
  const forgotten =
    stored &&
    `Forgot the key for ${stored.baseUrl}. To revoke it as well, open ${stored.baseUrl} and remove the device.`;
  const lines = [forgotten, ended].filter((line) => line !== undefined);
  context.terminal.say(lines.length === 0 ? "Nothing to forget: this machine is not paired." : lines.join("\n"));
  return EXIT.ok;
}
