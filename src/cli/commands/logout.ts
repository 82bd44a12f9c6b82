import { openSignInStore } from "../../pairing/sign-in-store.ts";
import { signOut } from "../../pairing/sign-out.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { readProxy } from "../proxy.ts";

/** `svc logout`: ends the stored sign-in, at the service too where that is possible. The key stays. */
export async function logout(context: CliContext): Promise<number> {
  const ended = await endSignIn(context);
  context.terminal.say(ended ?? "Nothing to end: this machine is not signed in.");
  return EXIT.ok;
}

/** Ends the stored sign-in and says what came of it; undefined when there was none. */
export async function endSignIn({ places, env }: CliContext): Promise<string | undefined> {
  const { baseUrl, isRevoked } = await signOut(openSignInStore(places.config), readProxy(env));
  if (baseUrl === undefined) return undefined;
  return isRevoked
    ? `Ended the sign-in to ${baseUrl}, here and there.`
    : `Forgot the sign-in to ${baseUrl}. The service could not be told: open it and withdraw the access there.`;
}
