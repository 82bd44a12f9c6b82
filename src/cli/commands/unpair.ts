import { openCredentialStore } from "../../pairing/credentials.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";

/** `svc unpair`: deletes the stored key; revoking it is done in the dashboard. */
export async function unpair(context: CliContext): Promise<number> {
  const store = openCredentialStore(context.places.config);
  // A damaged file holds nothing to name, and is forgotten all the same.
  const stored = await store.read().catch(() => undefined);
  await store.clear();
  context.terminal.say(
    stored
      ? `Forgot the key for ${stored.baseUrl}. To revoke it as well, open ${stored.baseUrl} and remove the device.`
      : "Nothing to forget: this machine is not paired.",
  );
  return EXIT.ok;
}
