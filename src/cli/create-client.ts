import { SvcClient } from "../client/client.ts";
import type { CliContext } from "./context.ts";
import { readProxy } from "./proxy.ts";

/** A client that goes through the proxy of the environment, when one is set. */
export function createClient({ env }: CliContext, baseUrl: string, apiKey?: string): SvcClient {
  const proxy = readProxy(env);
  return new SvcClient({
    baseUrl,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(proxy === undefined ? {} : { proxy }),
  });
}
