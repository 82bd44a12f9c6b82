import { closeApp } from "./close-app.ts";
import type { Connections } from "./connections/connections.ts";
import type { Integration } from "./integrations/integration.ts";
import type { CheckedOptions } from "./service-options.ts";
import { openSources } from "./sources/open-sources.ts";
import { listPieceFolders } from "./sources/piece/piece-definition.ts";
import { sweepPieces } from "./sources/piece/piece-folders.ts";
import { sourceKinds } from "./sources/source-kinds.ts";
import { judgeProposal } from "./sources/source-proposals.ts";
import type { SourceStore } from "./sources/source-store.ts";

/** What the integrations that come and go are put into. */
interface Host {
  readonly connections: Connections;
  readonly sources: SourceStore;
  /** Puts these beside the integrations the service was started with. */
  install(added: readonly Integration[]): void;
}

/** Opens the integrations that the owner added and follows their changes; the result closes them and the built-in ones. */
export async function openAdded(o: CheckedOptions, host: Host): Promise<() => Promise<void>> {
  const { now, dataDir, log, allowedFileHosts: allowedHosts } = o;
  const { sources } = host;
  const warn = (message: string, cause?: unknown) => log({ level: "warn", message, cause });
  const opened = await openSources({
    store: sources,
    kinds: sourceKinds,
    log,
    onChange: host.install,
    tidy: () =>
      sweepPieces(dataDir, async () => listPieceFolders(await sources.list())).catch((cause) => {
        warn("Connectors that nothing uses any more could not be removed.", cause);
        return true;
      }),
    ports: {
      dataDir,
      log,
      now,
      allowedHosts,
      listConnections: (slug) => host.connections.list(slug),
      async setConnectionState({ id, settings }, state) {
        await host.connections
          .update(id, { state }, settings)
          .catch((cause) => warn("The state of a connection could not be stored.", cause));
      },
      async propose(slug, content) {
        try {
          if (!(await sources.propose(slug, content))) return;
          const does = judgeProposal(await sources.find(slug)) === "additions" ? "offers new" : "has changed its";
          warn(`The app "${slug}" ${does} actions: see "svc review ${slug}".`);
        } catch (cause) {
          warn(`What the app "${slug}" offers now could not be stored.`, cause);
        }
      },
    },
  });
  return async () => {
    await Promise.all([opened.close(), ...o.integrations.map((integration) => closeApp(integration, log))]);
  };
}
