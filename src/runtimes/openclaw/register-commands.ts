import type { HostApi } from "./host-api.ts";
import { COMMAND_METHOD } from "./host-names.ts";
import type { SvcHost } from "./svc-host.ts";

const DESCRIPTION = "Pair, sync and check svc, and decide on calls that wait for you";

/** Registers `openclaw svc …` and `/svc …`. Their code is loaded when they are used. */
export function registerCommands(api: HostApi, host: SvcHost): void {
  api.registerCli(
    async ({ program, config }) => (await import("./cli-commands.ts")).addCliCommands(program, { host, api, config }),
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
    handler: async (context) => (await import("./slash-command.ts")).runSlashCommand({ host, api, context }),
  });
  api.registerGatewayMethod?.(
    COMMAND_METHOD,
    async (call) => (await import("./gateway-command.ts")).runGatewayCommand(host, call),
    { scope: "operator.approvals" },
  );
}
