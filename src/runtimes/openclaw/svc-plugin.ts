import { registerRefresh } from "./actions/register-refresh.ts";
import type { HostApi } from "./host/host-api.ts";
import { COMMAND_METHOD, type HostAuthMethod, PROVIDER_ID } from "./host/host-sign-in.ts";
import { registerGate, registerTools } from "./register-tools.ts";
import { leaveHost, type SvcHost, shareHost } from "./svc-host.ts";

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

/** The plugin as OpenClaw loads it. */
export const svcPlugin = {
  id: "svc",
  name: "svc",
  description:
    "Lets an agent act on mail, files, notes and other apps through svc, with a human approving every write.",
  register: registerSvc,
};

const DESCRIPTION = "Pair, sync and check svc, and decide on calls that wait for you";

/** Registers `openclaw svc …` and `/svc …`. Their code is loaded when they are used. */
export function registerCommands(api: HostApi, host: SvcHost): void {
  api.registerCli(
    async ({ program, config }) =>
      (await import("./commands/cli-commands.ts")).addCliCommands(program, { host, api, config }),
    { descriptors: [{ name: "svc", description: DESCRIPTION, hasSubcommands: true }] },
  );
  if (api.registrationMode === "cli-metadata") return;
  api.registerCommand({
    name: "svc",
    description: DESCRIPTION,
    acceptsArgs: true,
    requireAuth: true,
    // Without a scope the host does not tell who the sender is.
    requiredScopes: ["operator.approvals"],
    handler: async (context) => (await import("./commands/slash-command.ts")).runSlashCommand({ host, api, context }),
  });
  api.registerGatewayMethod?.(
    COMMAND_METHOD,
    async (call) => (await import("./commands/decision-commands.ts")).runGatewayCommand(host, call),
    { scope: "operator.approvals" },
  );
}

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
    run: async (context) => (await import("./setup/pair-method.ts")).pairWithHost(host, context),
    runNonInteractive: async (context) => (await import("./setup/pair-method.ts")).acceptKey(host, context),
  };
}
