import { isSvcError, type SvcError } from "../../shared/errors.ts";
import { SvcClient } from "../client/client.ts";
import type { ProxySettings } from "../client/client-options.ts";
import { createDispatcher } from "../client/dispatcher.ts";
import { isTlsFailure } from "../client/failure.ts";
import type { CallOptions } from "../client/transport.ts";

/** The result of one harmless read from a service. */
export interface ServiceCheck {
  /** Origin and path, no trailing slash. */
  readonly baseUrl: string;
  /** Non-secret id of service and key; `anonymous` without a key. */
  readonly principal: string;
  /** Why the service cannot be used; undefined when it answered correctly, even if it refused the key. */
  readonly problem: SvcError | undefined;
  /** The service's judgement of the key; `unchecked` without a key or without an answer. */
  readonly key: "accepted" | "refused" | "unchecked";
  /** The service's reason to refuse the key; undefined for an accepted key. */
  readonly refusal: string | undefined;
  readonly tools: number | undefined;
  /**
   * Milliseconds this machine's clock is ahead of the service's, negative when it is behind; exact to a second and half
   * the time of the request. Undefined when the service sent no date.
   */
  readonly clockAheadMs: number | undefined;
}

/** True when nothing answered at all; false for a service that is there and whose certificate is not accepted. */
export function isAway(problem: SvcError): boolean {
  return (problem.code === "unreachable" || problem.code === "timeout") && !isTlsFailure(problem);
}

/** Proxy and limits of the requests that check a service. */
export interface ServiceCheckLimits {
  readonly proxy?: ProxySettings | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for each of the two requests. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/** What a key reaches on its service. */
export interface Reach {
  /** Name of the account under which its state is kept, unless it continues another one. */
  readonly principal: string;
  readonly tools: number;
  /** Ids of the accounts that its tools use by default. */
  readonly connections: readonly string[];
}

/**
 * Looks at what a new key reaches; of more than 200 tools only at the accounts of the first.
 *
 * @throws SvcError as `listTools`
 */
export async function readReach(
  key: { readonly baseUrl: string; readonly apiKey: string },
  { proxy, signal, timeoutMs = 10_000 }: ServiceCheckLimits = {},
): Promise<Reach> {
  const client = new SvcClient({ ...key, proxy });
  try {
    const { tools, total } = await client.listTools({ limit: 200 }, { signal, timeoutMs });
    const named = tools.map(({ defaultConnectionId: id }) => id).filter((id) => typeof id === "string");
    return { principal: client.principal, tools: total ?? tools.length, connections: [...new Set(named)] };
  } finally {
    await client.close();
  }
}

/**
 * Asks the service for one tool to check that it is there, accepts the key and has the right time. Without a key only
 * the address is checked; a key is sent to `baseUrl` only.
 *
 * @throws SvcError `invalid_config` for an address that cannot be used, `aborted`
 */
export async function checkServiceAt(
  { baseUrl, apiKey }: { readonly baseUrl: string; readonly apiKey?: string | undefined },
  limits: ServiceCheckLimits = {},
): Promise<ServiceCheck> {
  const client = new SvcClient({ baseUrl, apiKey, proxy: limits.proxy });
  try {
    return await checkService(client, limits);
  } finally {
    await client.close();
  }
}

/**
 * {@link checkServiceAt} for a client.
 *
 * @throws SvcError `aborted`
 */
export async function checkService(client: SvcClient, limits: ServiceCheckLimits = {}): Promise<ServiceCheck> {
  const { signal, timeoutMs = 10_000 } = limits;
  const answer = await ask(client, { signal, timeoutMs });
  const clockAheadMs =
    answer.problem === undefined ? await compareClocks(client.baseUrl, limits, timeoutMs) : undefined;
  return { baseUrl: client.baseUrl, principal: client.principal, clockAheadMs, ...answer };
}

type Answer = Pick<ServiceCheck, "problem" | "key" | "refusal" | "tools">;

async function ask(client: SvcClient, options: CallOptions): Promise<Answer> {
  const unchecked = { key: "unchecked", refusal: undefined, tools: undefined } as const;
  try {
    if (!client.hasKey) {
      await client.getServerCard(options);
      return { problem: undefined, ...unchecked };
    }
    const list = await client.listTools({ limit: 1 }, options);
    return { problem: undefined, key: "accepted", refusal: undefined, tools: list.total ?? list.tools.length };
  } catch (error) {
    if (!isSvcError(error) || error.code === "aborted") throw error;
    if (client.hasKey && error.code === "unauthorized") {
      return { problem: undefined, key: "refused", refusal: error.message, tools: undefined };
    }
    // The card is optional: a refusal from the service proves that it is there.
    const isThere = !client.hasKey && (error.status === 404 || error.code === "unauthorized");
    return { problem: isThere ? undefined : error, ...unchecked };
  }
}

/** Uses the `Date` of an answer to a request without a key; after any failure the difference is unknown. */
async function compareClocks(
  baseUrl: string,
  { proxy, now = Date.now }: ServiceCheckLimits,
  timeoutMs: number,
): Promise<number | undefined> {
  const { origin, pathname } = new URL(`${baseUrl}/api/mcp/server-card`);
  const dispatcher = createDispatcher(baseUrl, proxy);
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const startedAt = now();
    const { headers, body } = await dispatcher.request({ origin, path: pathname, method: "GET", signal });
    const answeredAt = now();
    await body.dump();
    const there = Date.parse(typeof headers.date === "string" ? headers.date : "");
    return Number.isNaN(there) ? undefined : Math.round((startedAt + answeredAt) / 2 - there);
  } catch {
    return undefined;
  } finally {
    await dispatcher.destroy();
  }
}
