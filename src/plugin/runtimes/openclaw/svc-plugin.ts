import type { HostApi } from "./host/host-api.ts";
import { registerCommands, registerGate, registerPairing, registerRefresh, registerTools } from "./register-parts.ts";
import { leaveHost, shareHost } from "./svc-host.ts";

/** The plugin as OpenClaw loads it. */
export const svcPlugin = {
  id: "svc",
  name: "Your apps, with your approval (svc)",
  description:
    "Lets an agent act on mail, files, notes and other apps through svc, with a human approving every write.",
  register: registerSvc,
};

/** Registers everything the plugin offers. Synchronous and light: nothing is read, sent or opened here. */
function registerSvc(api: HostApi): void {
  const host = shareHost(api);
  registerPairing(api, host);
  registerCommands(api, host);
  if (api.registrationMode !== "cli-metadata") {
    registerTools(api, host);
    registerGate(api, host);
    registerRefresh(api, host);
    const leave = () => leaveHost(host, api);
    api.registerService({ id: "svc-sessions", start: () => undefined, stop: leave });
    api.lifecycle?.registerRuntimeLifecycle({ id: "svc-sessions", dispose: leave });
  }
}
