import type { MiddlewareHandler } from "hono";
import { ServiceError } from "../service-error.ts";
import { readCallerAddress } from "./caller-address.ts";
import type { RouteEnv } from "./request.ts";
import type { ServiceParts } from "./service-parts.ts";

/**
 * What one address may begin without a key: how many a second in the long run, and how many at once before that counts. The
 * registration of an OAuth client holds up all other work; a pairing or installation is one small row.
 */
const RATES = {
  client: { perSecond: 5, atOnce: 100, many: "registrations" },
  session: { perSecond: 20, atOnce: 1000, many: "pairings and installations" },
} as const;

/** What callers without a key begin: an OAuth client, or a session of pairing or installing. */
type Newcomer = keyof typeof RATES;

/** Addresses that are remembered. */
const MAX_ADDRESSES = 10_000;

interface Bucket {
  left: number;
  filledAt: number;
}

/** How much callers without a key may begin. */
export interface NewcomerLimit {
  /** Takes one beginning of an address; false when there were too many of its kind. */
  take(kind: Newcomer, address: string): boolean;
}

/** Counts what each address begins, each kind by itself; IPv6 addresses of one network (/64) are one. */
export function createNewcomerLimit(now: () => number): NewcomerLimit {
  const buckets = new Map<string, Bucket>();
  return {
    take(kind, address) {
      const { perSecond, atOnce } = RATES[kind];
      const name = `${kind} ${toNetwork(address)}`;
      const at = now();
      const bucket = buckets.get(name) ?? { left: atOnce, filledAt: at };
      bucket.left = Math.min(atOnce, bucket.left + (Math.max(0, at - bucket.filledAt) / 1000) * perSecond);
      bucket.filledAt = at;
      // The one that asked last stands at the end.
      buckets.delete(name);
      buckets.set(name, bucket);
      const [oldest] = buckets.keys();
      if (buckets.size > MAX_ADDRESSES && oldest !== undefined) buckets.delete(oldest);
      if (bucket.left < 1) return false;
      bucket.left -= 1;
      return true;
    },
  };
}

function toNetwork(address: string): string {
  return address.includes(":") && !address.startsWith("::") ? address.split(":").slice(0, 4).join(":") : address;
}

/** Refuses with 429 `too_many_registrations` what comes too fast from an address, and never for the sake of another one. */
export function limitNewcomers(
  kind: Newcomer,
  { newcomers, trustedProxies }: Pick<ServiceParts, "newcomers" | "trustedProxies">,
): MiddlewareHandler<RouteEnv> {
  return async (c, next) => {
    if (newcomers.take(kind, readCallerAddress(c.env.incoming, trustedProxies))) return next();
    throw new ServiceError(
      429,
      "too_many_registrations",
      `Too many ${RATES[kind].many} came from this address. Wait a second.`,
      {
        bare: true,
        type: "rate_limit",
        retryable: true,
        retryAfterSeconds: 1,
      },
    );
  };
}
