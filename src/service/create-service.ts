import type { Connections } from "./connections/connection.ts";
import { openService } from "./open-service.ts";
import type { ServiceOptions } from "./service-options.ts";

/** A running service. */
export interface Service {
  /** Base URL, without a slash at the end. */
  readonly url: string;
  /** Where it listens, e.g. `http://127.0.0.1:8790`; another than `url` behind a proxy. */
  readonly listeningOn: string;
  readonly dataDir: string;
  /** A new one-time link that signs a browser in; works once, for 10 minutes. */
  signInUrl(): Promise<string>;
  readonly connections: Connections;
  /** How many calls {@link close} would wait for now: requests, or actions that go on without one, whichever are more. */
  runningCalls(): number;
  /**
   * Stops taking requests, lets running ones finish and be answered within `providerTimeoutMs` and five seconds, closes
   * the store and gives the data folder back. Connections without a request end at once. An app that has not closed in
   * 15 seconds is left as it is and named in the log. Rejects with the first thing that could not be closed, when all else
   * is.
   */
  close(): Promise<void>;
}

/**
 * Starts the self-hosted service: every endpoint of the API document, and the pages for its owner.
 * On the first start it connects drive, notes, mail, calendar, contacts and feeds to folders below `dataDir`.
 *
 * @throws SvcError `invalid_config` naming the option: port in use, address not of this machine, data folder not
 *   writable or served by another process, `publicUrl` missing for a host that other machines reach.
 * @example
 * const service = await createService({ dataDir: "./svc-data", port: 0 });
 * console.log(service.url, await service.signInUrl());
 */
export async function createService(options: ServiceOptions): Promise<Service> {
  const { url, listeningOn, dataDir, signInUrl, connections, runningCalls, close } = await openService(options);
  return { url, listeningOn, dataDir, signInUrl, connections, runningCalls, close };
}
