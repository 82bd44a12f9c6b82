import { type CompanionOffer, createActionTools, GATE_MS, offerToCompanion } from "./actions/action-tools.ts";
import type { RefreshClock, Refresher } from "./actions/refresher.ts";
import { COMMAND_METHOD, type HostApi, PROVIDER_ID } from "./host/host-api.ts";
import type { HostGate } from "./host/host-tool.ts";
import type { SvcHost } from "./svc-host.ts";
import { createStaticTools, STATIC_DEFINITIONS } from "./translate-tool.ts";

/** Adds pairing to the host's sign-in screens: `openclaw configure`, `openclaw models auth login`, `/login svc`. */
export function registerPairing(api: HostApi, host: SvcHost): void {
  api.registerProvider({
    id: PROVIDER_ID,
    label: "svc (your apps as tools, not a model)",
    envVars: ["SVC_API_KEY"],
    auth: [
      {
        id: "pair",
        label: "Pair this machine",
        hint: "Shows a link and a code. A signed-in human opens the link, compares the code and approves.",
        kind: "device_code",
        run: async (context) => (await import("./setup/pair-method.ts")).pairWithHost(host, context),
        runNonInteractive: async (context) => (await import("./setup/pair-method.ts")).acceptKey(host, context),
      },
    ],
  });
}

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

/** Registers the static tools and the flow tools, and lets the companion plugin find the action tools. */
export function registerTools(api: HostApi, host: SvcHost): void {
  api.registerTool((context) => createStaticTools(host, context), {
    names: STATIC_DEFINITIONS.map(({ name }) => name),
  });
  const offer: CompanionOffer = {
    createTools: (context, declared) => createActionTools(host, context, declared),
    gate: createGate(host),
  };
  const isLasting = api.registrationMode === "full";
  const withdraw = offerToCompanion(host.places.companion, offer, { isLasting });
  if (!isLasting) return;
  api.lifecycle?.onDispose?.(withdraw);
  api.lifecycle?.registerRuntimeLifecycle({ id: "svc-actions", dispose: withdraw });
}

/**
 * Static tools that change something. Flow tools show no card here, as their effect is known only while they run; they
 * are noted with their run, which their calls are told apart by.
 */
const GATED = ["svc_call_tool", "svc_start_flow", "svc_approve_flow", "svc_resume_flow", "svc_cancel_flow"] as const;

/**
 * Registers the gate for the static tools, by their exact names: the host blocks a call when a hook fails, and ours must
 * never block anybody else's. The companion plugin does the same for the action tools.
 */
export function registerGate(api: Pick<HostApi, "on">, host: SvcHost): void {
  api.on("before_tool_call", createGate(host), { matcher: GATED, timeoutMs: GATE_MS });
}

/**
 * The gate of this host: shows the host one card for a call that is known to change something. Nothing is sent. It lets
 * every other call pass, since none is sent without an approval anyway.
 */
export function createGate(host: SvcHost): HostGate {
  return async (event, context) => {
    const { judgeCall } = await import("./ask/judge-call.ts");
    return judgeCall({ ...host, ...(await host.openAskState()) }, event, context);
  };
}

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
 * old, and at once when a call finds that a schema has changed. Nothing is added to the tools a human agreed to; tools
 * that came or went are logged once and kept for `openclaw svc status`.
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
      const { createRefresher } = await import("./actions/refresher.ts");
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
