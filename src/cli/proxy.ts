import type { ProxySettings } from "../client/create-dispatcher.ts";

/** The proxy variables other command line tools honour; undefined when none is set. */
export function readProxy(env: NodeJS.ProcessEnv): ProxySettings | undefined {
  const httpProxy = env.http_proxy || env.HTTP_PROXY;
  const httpsProxy = env.https_proxy || env.HTTPS_PROXY;
  if (!httpProxy && !httpsProxy) return undefined;
  return { httpProxy, httpsProxy, noProxy: env.no_proxy || env.NO_PROXY };
}
