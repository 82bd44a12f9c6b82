import { isRecord } from "../../../shared/base/json.ts";
import { redact } from "../../client/redact.ts";
import type { AskState } from "./ask/ask-state.ts";
import type { HostApi, HostLogger } from "./host/host-api.ts";
import type { HostToolContext } from "./host/host-tool.ts";
import { createPlaces, type Places } from "./host/places.ts";
import type { AccountSession, SessionCache } from "./setup/account-session.ts";
import type { AccountKey } from "./setup/find-key.ts";
import { type PluginSettings, readPluginSettings } from "./setup/plugin-settings.ts";
import { type Environment, readEnvironment } from "./setup/read-environment.ts";

/** Shared by every registration of the plugin in this process. */
export interface SvcHost {
  readonly places: Places;
  /** The section of the configuration that the latest registration was given. */
  registered(): HostApi["pluginConfig"];
  /** Settings of the latest registration. Throws SvcError `invalid_config` naming the field. */
  settings(): PluginSettings;
  /** The key that applies in this context, with the address it goes to; undefined when there is none. */
  findKey(context: HostToolContext | undefined): Promise<AccountKey | undefined>;
  /**
   * The session of the account whose key applies in this context; one per account, opened on first use and shared.
   * Without a context, as in a chat command: the key of the host's default agent.
   *
   * @throws SvcError `credentials_missing` with the ways to pair, `invalid_config` for unusable settings
   */
  openAccount(context: HostToolContext | undefined): Promise<AccountSession>;
  /** Decisions of humans and the cards they were shown. Loaded by the first call or command that needs it. */
  openAskState(): Promise<AskState>;
  /**
   * The account that applied in the last call, by folder of the agent: keys are found asynchronously, tools are made
   * synchronously.
   */
  readonly seenAccounts: Map<string | undefined, string>;
  /** Names of action tools that this process has loaded; undefined before the first assembly of tools, and where none asks. */
  declared: readonly string[] | undefined;
  /** Puts a line before the next turn of an agent's main conversation, and asks for that turn. Never throws. */
  wakeAgent(text: string, agentId: string | undefined): void;
  /** The host's log, with keys and tokens taken out. */
  readonly log: HostLogger;
  /** Closes every session as soon as no call runs in it; the next `openAccount` opens new ones. */
  close(): Promise<void>;
}

/** Shared by all registrations of a process: the host loads a new copy of the plugin for each, and removes it later. */
const SHARED = Symbol.for("svc-agent-plugin.openclaw");

/** A host together with the registration that owns it. */
interface SharedHost {
  readonly host: SvcHost;
  /** The copy of the plugin the host was made by: it must not be used after the host dropped that copy. */
  readonly code: symbol;
  readonly version: string | undefined;
  api: HostApi;
  /** Owned by a registration that lasts, until the host drops it. */
  isLasting: boolean;
  /** The approval state, once it is loaded; the next copy of the plugin takes it over. */
  askState: Promise<AskState> | undefined;
}

const CODE = Symbol("svc host code");

/**
 * The shared host of this process and state folder, told of the latest registration. A lasting registration replaces the
 * host of another copy of the plugin; a registration that only inspects the plugin uses the existing host.
 */
export function shareHost(api: HostApi, environment: Environment = readEnvironment()): SvcHost {
  const hosts = findHosts();
  const known = hosts.get(environment.stateDir);
  const isLasting = api.registrationMode === "full";
  if (known?.isLasting && !isLasting) return known.host;
  if (known?.code === CODE) {
    known.api = api;
    known.isLasting = isLasting;
    return known.host;
  }
  const inherited = known?.version === api.version ? known?.askState : undefined;
  const made = createSharedHost({ api, isLasting, askState: inherited }, environment);
  hosts.set(environment.stateDir, made);
  known?.host.close().catch((error: unknown) => made.host.log.warn(`Sessions could not be closed: ${String(error)}`));
  return made.host;
}

/**
 * Tells that the host program drops this registration: its sessions are closed, and the next registration starts fresh
 * with the same approval state. Nothing happens when another registration has taken over.
 */
export async function leaveHost(host: SvcHost, api: HostApi): Promise<void> {
  for (const shared of findHosts().values()) {
    if (shared.host !== host || shared.api !== api) continue;
    shared.isLasting = false;
    await host.close();
  }
}

function findHosts(): Map<string, SharedHost> {
  const holder: typeof globalThis & { [SHARED]?: Map<string, SharedHost> } = globalThis;
  holder[SHARED] ??= new Map();
  return holder[SHARED];
}

function createSharedHost(
  owner: Pick<SharedHost, "api" | "isLasting" | "askState">,
  environment: Environment,
): SharedHost {
  const places = createPlaces(environment.stateDir, environment.mediaDir);
  /** Made by the first call, so that its modules are loaded only then. */
  let sessions: SessionCache | undefined;
  const settings = () => readPluginSettings(shared.api.pluginConfig, environment);
  const findKey: SvcHost["findKey"] = async (context) => {
    const { findAccountKey } = await import("./setup/find-key.ts");
    return findAccountKey({ settings: settings(), environment, places, context, api: shared.api });
  };
  const host: SvcHost = {
    places,
    registered: () => shared.api.pluginConfig,
    settings,
    findKey,
    async openAccount(context) {
      const found = await findKey(context);
      if (found === undefined) throw (await import("./setup/find-key.ts")).missingKey(environment);
      const { createSessionCache } = await import("./setup/account-session.ts");
      sessions ??= createSessionCache(places);
      return sessions.open(found, settings());
    },
    openAskState: () => openAskState(shared, owner.askState),
    seenAccounts: new Map(),
    declared: undefined,
    wakeAgent(text, agentId = "main") {
      try {
        wakeAgent(shared.api, text, agentId);
      } catch (error) {
        host.log.warn(`The agent could not be told of a waiting call: ${String(error)}`);
      }
    },
    log: createHostLog(
      () => shared.api.logger,
      () => sessions?.listSecrets() ?? [],
    ),
    close: async () => sessions?.close(),
  };
  const shared: SharedHost = { ...owner, host, code: CODE, version: owner.api.version };
  return shared;
}

function wakeAgent({ runtime }: HostApi, text: string, agentId: string): void {
  const { session } = runtime.config.current();
  const mainKey = isRecord(session) && typeof session.mainKey === "string" ? session.mainKey : "main";
  const sessionKey = isRecord(session) && session.scope === "global" ? "global" : `agent:${agentId}:${mainKey}`;
  const isNew = runtime.system?.enqueueSystemEvent(text, { sessionKey, agentId, contextKey: "svc:waiting" });
  const wake = { source: "other", intent: "event", reason: "svc:waiting-call", agentId, sessionKey } as const;
  if (isNew === true) runtime.system?.requestHeartbeat(wake);
}

/** The approval state: loaded once, or taken over from the previous copy of the plugin. */
async function openAskState(shared: SharedHost, inherited: Promise<AskState> | undefined): Promise<AskState> {
  shared.askState ??= import("./ask/ask-state.ts").then(({ createAskState }) => createAskState());
  const opening = shared.askState;
  try {
    return await opening;
  } catch (error) {
    // The host may have removed the copy of the plugin that loads them; this one can still try.
    if (shared.askState === opening) shared.askState = undefined;
    if (opening === inherited) return openAskState(shared, undefined);
    throw error;
  }
}

/** Logs through the host's current logger. `listSecrets` gives texts that are taken out whatever they look like. */
function createHostLog(getLogger: () => HostLogger, listSecrets: () => readonly string[]): HostLogger {
  const clean = (message: string) => redact(message, listSecrets());
  return {
    info: (message) => getLogger().info(clean(message)),
    warn: (message) => getLogger().warn(clean(message)),
    error: (message) => getLogger().error(clean(message)),
  };
}
