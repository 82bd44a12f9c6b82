import { hostname } from "node:os";
import { openCredentialStore } from "../../pairing/credentials.ts";
import { type SignInProgress, signIn } from "../../pairing/sign-in.ts";
import { openSignInStore } from "../../pairing/sign-in-store.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { chooseBaseUrl } from "../open-session.ts";
import { readProxy } from "../proxy.ts";
import { readSettings } from "../settings.ts";
import type { Terminal } from "../terminal.ts";

interface LoginFlags {
  readonly baseUrl?: string;
  readonly label?: string;
}

/** `svc login`: shows the sign-in link, waits for the browser to come back, stores the tokens. */
export async function login(context: CliContext, flags: LoginFlags): Promise<number> {
  const { terminal, places, env, signal } = context;
  const settings = await readSettings(places, env, flags);
  const store = openSignInStore(places.config);
  const { baseUrl } = await signIn({
    baseUrl: await chooseBaseUrl(context, settings),
    store,
    clientName: `svc on ${flags.label ?? hostname()}`,
    proxy: readProxy(env),
    signal,
    onProgress: (progress) => showSignIn(terminal, progress),
  });
  terminal.say(`Signed in to ${baseUrl}. The sign-in is in ${store.path}, readable by you alone.`);
  if (settings.apiKey !== undefined || (await openCredentialStore(places.config).read()) !== undefined) {
    terminal.say('This machine also has a key, which is used first; "svc status" shows it.');
  }
  terminal.say('Next: "svc tools" lists what you can do. Flows and files of this machine need a key: "svc pair".');
  return EXIT.ok;
}

function showSignIn(terminal: Terminal, progress: SignInProgress): void {
  if (progress.kind === "started") {
    terminal.say(
      `Open this link in a browser on this machine and approve: ${terminal.style("cyan", progress.signInUrl)}`,
    );
    terminal.say(
      'The browser is elsewhere? Use "svc pair". Not signed in there? "svc login-link" prints a sign-in link.',
    );
    terminal.say(`Waiting until ${new Date(progress.expiresAt).toLocaleTimeString("en-GB")} …`);
    return;
  }
  if (progress.kind === "waiting") {
    terminal.progress(`  waiting for the browser, ${Math.round(progress.elapsedMs / 1000)} s`);
    return;
  }
  terminal.endProgress(terminal.style("green", "Approved."));
}
