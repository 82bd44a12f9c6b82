import type { HostConfig, HostLogger } from "./host-config.ts";

/** Background work; started with the gateway, never in other modes. */
export interface HostService {
  readonly id: string;
  readonly reload?: { readonly configPrefixes: readonly string[] };
  start(context: HostServiceContext): void | Promise<void>;
  stop?(context: HostServiceContext): void | Promise<void>;
}

/** What a service is started with. */
interface HostServiceContext {
  readonly config: HostConfig;
  readonly stateDir: string;
  readonly logger: HostLogger;
}
