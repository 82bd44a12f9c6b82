import { createSignInLink } from "../../service/create-sign-in-link.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";

interface LoginLinkFlags {
  readonly data?: string;
  readonly database?: string;
}

/** `svc login-link`: a new one-time sign-in link for the service running on a data folder of this machine. */
export async function loginLink(context: CliContext, flags: LoginLinkFlags): Promise<number> {
  const link = await createSignInLink({ dataDir: flags.data ?? context.places.service, database: flags.database });
  context.terminal.answer({ signInUrl: link }, () => link);
  return EXIT.ok;
}
