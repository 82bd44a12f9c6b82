import type * as undici from "undici";
// @ts-expect-error The package declares the types of its whole, not of its files.
import OwnAgent from "undici/lib/dispatcher/agent.js";
// @ts-expect-error As above.
import OwnProxyAgent from "undici/lib/dispatcher/env-http-proxy-agent.js";

/*
 * Bun answers the name of the package with a stand-in that sends nothing, but reads its files like any others. Nothing
 * else of the package is loaded, either.
 */

/** Sends requests over connections of its own. */
export const Agent: typeof undici.Agent = OwnAgent;

/** The same through the proxies that it is given. */
export const EnvHttpProxyAgent: typeof undici.EnvHttpProxyAgent = OwnProxyAgent;
