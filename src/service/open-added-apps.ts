import type { Integration } from "../apps/port/integration.ts";
import { isStopped } from "../apps/port/source.ts";
import { sourceKinds } from "../apps/source-kinds.ts";
import { closeApp, type OpenSources, openSources } from "./added/open-sources.ts";
import { judgeProposal, type SourceStore } from "./added/source-store.ts";
import type { Connections } from "./connections/connection.ts";
import type { AccessTokens } from "./connections/sign-in/access-tokens.ts";
import type { CheckedOptions } from "./service-options.ts";

interface Host {
  readonly connections: Connections;
  readonly sources: SourceStore;
  readonly accessTokens: AccessTokens;
  /** Puts these beside the integrations the service was started with. */
  install(added: readonly Integration[]): void;
  /** Lets a caller that asks after a change wait until it is in use. */
  followApps(refresh: OpenSources["refresh"]): void;
}

/** Opens the integrations that the owner added and follows their changes; the result closes them and the built-in ones. */
export async function openAddedApps(o: CheckedOptions, host: Host): Promise<OpenSources> {
  const { now, log, allowedFileHosts: allowedHosts } = o;
  const { sources } = host;
  const warn = (message: string, cause?: unknown) => log({ level: "warn", message, cause });
  const opened = await openSources({
    store: sources,
    kinds: sourceKinds,
    log,
    onChange: host.install,
    reserved: new Set(o.integrations.map(({ slug }) => slug)),
    ports: {
      log,
      now,
      allowedHosts,
      provide: host.accessTokens.provide,
      listConnections: (slug) => host.connections.list(slug),
      async setConnectionState({ id, settings }, state) {
        await host.connections
          .update(id, { state }, settings)
          .catch((cause) => warn("The state of a connection could not be stored.", cause));
      },
      async propose(slug, content) {
        try {
          if (!(await sources.propose(slug, content))) return;
          const source = await sources.find(slug);
          if (source === undefined || isStopped(source)) return;
          const does = judgeProposal(source) === "additions" ? "offers new" : "has changed its";
          warn(`The app "${slug}" ${does} actions: see "svc review ${slug}".`);
        } catch (cause) {
          warn(`What the app "${slug}" offers now could not be stored.`, cause);
        }
      },
    },
  });
  host.followApps(opened.refresh);
  return {
    refresh: opened.refresh,
    async close() {
      await Promise.all([opened.close(), ...o.integrations.map((integration) => closeApp(integration, log))]);
    },
  };
}
