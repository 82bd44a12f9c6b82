import type { AccessTokenSource } from "../client/access-token.ts";
import { SvcClient } from "../client/client.ts";
import type { CliContext } from "./context.ts";
import { readProxy } from "./proxy.ts";

/** What a client proves itself with; nothing when it is to pair or sign in. */
interface Access {
  readonly apiKey?: string | undefined;
  readonly accessToken?: AccessTokenSource | undefined;
}

/** A client that goes through the proxy of the environment, when one is set. */
export function createClient({ env }: CliContext, baseUrl: string, access: Access = {}): SvcClient {
  return new SvcClient({ baseUrl, ...access, proxy: readProxy(env) });
}
