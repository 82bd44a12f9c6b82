import { createGate } from "../../shared/base/concurrency.ts";
import type { AllowedHosts } from "./address-rules.ts";
import { judgeTarget, type Network, SYSTEM_NETWORK } from "./guarded-connector.ts";
import {
  checkCredentials,
  FETCH_LIMITS,
  type FetchLimits,
  type KnownVersion,
  openRoutes,
  openUrl,
  readUrl,
} from "./open-url.ts";
import { readBody } from "./read-body.ts";
import { explainFailure, refuseUrl } from "./url-refusal.ts";

/** Fetches in flight. */
const MAX_FETCHES = 8;

/** A document as its host gave it. */
export interface WebDocument {
  /** Where the last redirect led. */
  readonly url: URL;
  readonly version: KnownVersion;
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** Fetches documents that are read in memory. */
export type WebDocuments = ReturnType<typeof createWebDocuments>;

/**
 * Fetches public https URLs, and those of hosts that the owner allowed, under the rules of `openUrl`: checked at every hop,
 * without credentials and cookies. At most eight at a time.
 */
export function createWebDocuments(o: {
  readonly allowed: AllowedHosts;
  readonly network?: Network;
  readonly limits?: FetchLimits;
}) {
  const { allowed, network = SYSTEM_NETWORK, limits = FETCH_LIMITS } = o;
  const gate = createGate(MAX_FETCHES);
  return {
    /** The address in a text. Asks nobody, and throws as `fetch` does where the address itself says that it is refused. */
    check(reference: string): URL {
      const url = readUrl(reference);
      checkCredentials(url);
      const refused = allowed.has(url) ? undefined : judgeTarget(url);
      if (refused !== undefined) throw refused;
      return url;
    },

    /**
     * Undefined when it has not changed since the version `known`. Throws ServiceErrors with the codes of `refuseUrl`, their
     * messages beginning with "The URL", also for more than `maxBytes`.
     */
    async fetch(
      reference: string,
      {
        known,
        maxBytes,
        signal,
      }: { readonly known?: KnownVersion; readonly maxBytes: number; readonly signal: AbortSignal },
    ): Promise<WebDocument | undefined> {
      const start = readUrl(reference);
      const leave = await gate.enter(signal);
      const total = AbortSignal.timeout(limits.totalMs);
      const routes = openRoutes(network, limits);
      try {
        const either = { signal: AbortSignal.any([signal, total]), ...(known && { known }) };
        const opened = await openUrl(start, { routes, allowed, mayTrust: true, ...either });
        if (opened.isUnchanged) return undefined;
        const { url, version, contentType } = opened;
        const bytes = await readBody(opened.body, maxBytes);
        if (bytes === undefined) throw refuseUrl("file_too_large", `gives more than ${maxBytes / 1024 / 1024} MB.`);
        return { url, version, contentType, bytes };
      } catch (error) {
        signal.throwIfAborted();
        throw explainFailure(error, { isOver: total.aborted, isCallerGone: false });
      } finally {
        await routes.close();
        leave();
      }
    },
  };
}
