import { redact } from "../../client/redact.ts";
import type { HostLogger } from "./host-config.ts";

/** The host's log, with keys and tokens taken out. */
export interface HostLog {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** Logs through the host's current logger. `listSecrets` gives texts that are taken out whatever they look like. */
export function createHostLog(getLogger: () => HostLogger, listSecrets: () => readonly string[]): HostLog {
  const clean = (message: string) => redact(message, listSecrets());
  return {
    info: (message) => getLogger().info(clean(message)),
    warn: (message) => getLogger().warn(clean(message)),
    error: (message) => getLogger().error(clean(message)),
  };
}
