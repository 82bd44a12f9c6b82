import type { HostApi } from "./host-api.ts";
import { PROVIDER_ID } from "./host-names.ts";
import type { HostAuthMethod } from "./host-sign-in.ts";
import type { SvcHost } from "./svc-host.ts";

/** Adds pairing to the host's sign-in screens: `openclaw configure`, `openclaw models auth login`, `/login svc`. */
export function registerPairing(api: HostApi, host: SvcHost): void {
  api.registerProvider({
    id: PROVIDER_ID,
    label: "svc (your apps as tools, not a model)",
    envVars: ["SVC_API_KEY"],
    auth: [createPairMethod(host)],
  });
}

function createPairMethod(host: SvcHost): HostAuthMethod {
  return {
    id: "pair",
    label: "Pair this machine",
    hint: "Shows a link and a code. A signed-in human opens the link, compares the code and approves.",
    kind: "device_code",
    run: async (context) => (await import("./pair-method.ts")).pairWithHost(host, context),
    runNonInteractive: async (context) => (await import("./accept-key.ts")).acceptKey(host, context),
  };
}
