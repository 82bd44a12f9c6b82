import type { HostApi } from "../host/host-api.ts";
import type { SvcHost } from "../svc-host.ts";
import type { RefreshClock, Refresher } from "./refresher.ts";

const CLOCK: RefreshClock = {
  now: Date.now,
  every(ms, work) {
    const timer = setInterval(work, ms);
    timer.unref();
    return () => clearInterval(timer);
  },
};

/**
 * Registers the work a gateway does in the background: known action tools are brought up to date when they are 6 hours
 * old, and at once when a call finds that a schema has changed. Nothing is added to what a human agreed to; what came or
 * went is logged once and kept for `openclaw svc status`.
 */
export function registerRefresh(api: HostApi, host: SvcHost, clock: RefreshClock = CLOCK): void {
  let refresher: Refresher | undefined;
  let turn = 0;
  api.registerService({
    id: "svc-refresh",
    async start() {
      turn += 1;
      const own = turn;
      await refresher?.stop();
      const { createRefresher } = await import("./refresher.ts");
      // Stopped or started again meanwhile.
      if (own !== turn) return;
      refresher = createRefresher(host, clock);
      refresher.look();
    },
    async stop() {
      turn += 1;
      await refresher?.stop();
      refresher = undefined;
    },
  });
}
