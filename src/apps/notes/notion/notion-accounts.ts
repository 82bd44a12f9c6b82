import { setTimeout as wait } from "node:timers/promises";
import type { AllowedHosts } from "../../../service/fetch/address-rules.ts";
import { type AppAgent, createAppAgent } from "../../../service/fetch/guarded-connector.ts";
import { refuseSetting, ServiceError } from "../../../service/service-error.ts";
import { createGate, type Gate } from "../../../shared/base/concurrency.ts";
import { sha256Hex } from "../../../shared/base/hash.ts";
import type { ActionContext } from "../../port/integration.ts";
import type { OpenNotebook } from "../notebook.ts";
import { NotionClient } from "./notion-client.ts";
import { NotionNotebook } from "./notion-notebook.ts";
import { objectSchema } from "./notion-objects.ts";
import { openPlace } from "./notion-places.ts";
import { type NotionSettings, readNotionSettings } from "./notion-settings.ts";

/** How long Notion may send nothing; it gives up after a minute itself, and a call has no more. */
const SILENCE_MS = 50_000;
const READ = { level: "read", idempotent: true } as const;

/** Options of the accounts. */
export interface NotionOptions {
  /** Hosts of the owner that may be reached although they are not public. */
  readonly allowed?: AllowedHosts;
  /** Waits for a place in Notion's rate limit, in milliseconds. Default: a timer. */
  wait?(ms: number, signal: AbortSignal): Promise<unknown>;
}

type Settings = ActionContext["connection"]["settings"];

/** Creates the ways to Notion; connects nowhere yet. */
export function createNotionAccounts(o: NotionOptions) {
  const agents = new Map<boolean, AppAgent>();
  const gates = new Map<string, Gate>();

  function connect(
    settings: NotionSettings,
    context: Pick<ActionContext, "signal" | "now">,
    action: Parameters<OpenNotebook>[1],
  ) {
    const { isPrivate } = settings;
    const agent = agents.get(isPrivate) ?? createAppAgent({ isPrivate, silenceMs: SILENCE_MS });
    agents.set(isPrivate, agent);
    const pause = o.wait ?? ((ms, signal) => wait(ms, undefined, { signal }));
    return new NotionClient({ settings, context, action, dispatcher: agent.dispatcher, wait: pause });
  }

  function findGate({ token }: NotionSettings): Gate {
    const key = sha256Hex(token);
    const gate = gates.get(key) ?? createGate(1);
    gates.set(key, gate);
    return gate;
  }

  return {
    open: (async (context, action) => {
      const settings = readNotionSettings(context.connection.settings, o.allowed);
      const gate = findGate(settings);
      return new NotionNotebook(connect(settings, context, action), {
        start: settings.parent,
        expectedState: context.expectedState,
        now: context.now,
        ...(context.keep && { keep: context.keep }),
        ...(context.leave && { leave: context.leave }),
        notes: context.connection.label,
        inTurn: (work) => gate.run(work, context.signal),
      });
    }) satisfies OpenNotebook,

    /** Throws ServiceError 422 naming the setting that is wrong. */
    check: (settings: Settings) => void readNotionSettings(settings, o.allowed),

    /** Asks Notion who the token is, and for the page for new notes. Throws as `check` does. */
    async test(given: Settings, signal: AbortSignal): Promise<void> {
      const settings = readNotionSettings(given, o.allowed);
      const client = connect(settings, { signal, now: Date.now }, READ);
      const asked = () => client.ask({ method: "GET", path: "users/me", schema: objectSchema });
      await attempt(asked, { setting: given.notionUrl ? "notionUrl" : "notionToken", signal });
      const { parent } = settings;
      if (parent !== undefined) await attempt(() => openPlace(client, parent), { setting: "notionParent", signal });
    },

    /** Ends all connections; a later call opens them again. */
    async close(): Promise<void> {
      const open = [...agents.values()];
      agents.clear();
      await Promise.all(open.map((agent) => agent.close()));
    },
  };
}

async function attempt(work: () => Promise<unknown>, o: { setting: string; signal: AbortSignal }): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (o.signal.aborted) throw refuseSetting(o.setting, "was tried, but Notion did not answer in time.", error);
    if (!(error instanceof ServiceError)) throw error;
    const isRefused = error.status === 401 || error.status === 403;
    throw refuseSetting(isRefused ? "notionToken" : o.setting, `does not work: ${error.message}`, error);
  }
}
