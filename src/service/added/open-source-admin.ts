import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { SvcError } from "../../errors.ts";
import { type Connections, createConnections } from "../connections/connections.ts";
import { createAccessTokens } from "../connections/sign-in/access-tokens.ts";
import { builtInIntegrations } from "../integrations/built-in.ts";
import type { Integration } from "../integrations/integration.ts";
import { createSecretBox, readSecretKey } from "../secrets/secret-box.ts";
import { createSettingsSeal } from "../secrets/secret-settings.ts";
import { STORE_FILE } from "../store/data-folder.ts";
import { connectStore, findAccount, type Store } from "../store/open-store.ts";
import { createAddedIntegration } from "./create-added-integration.ts";
import { checkSlug, type IntegrationSource, isStopped } from "./source.ts";
import { createSourceStore, type NewSource, type SourceStore } from "./source-store.ts";

/** The owner's administration of added apps, from the machine of the service; a running service follows within seconds. */
export interface SourceAdmin extends Pick<SourceStore, "list" | "find" | "accept" | "setLevels"> {
  /**
   * @param o.replace true when an added app of this name is to be replaced. Default false.
   * @throws SvcError `invalid_config`, field `slug`, for a name that {@link SourceAdmin.add} would refuse.
   */
  checkSlug(slug: string, o?: { replace?: boolean }): Promise<void>;
  /**
   * Stores an app.
   *
   * @param o.replace take the place of an added app of this name, whose connections stay. Default false: refused.
   * @param o.connection connects it too. A replaced app that has one connection takes these settings over; with several
   * none is changed.
   * @returns whether it has a connection now.
   * @throws SvcError `invalid_config`, field `slug`.
   */
  add(
    source: NewSource,
    o?: { replace?: boolean; connection?: { label: string; settings: Readonly<Record<string, unknown>> } },
  ): Promise<{ readonly isConnected: boolean }>;
  /** Removes an app and its connections; false when it was not added. */
  remove(slug: string): Promise<boolean>;
  close(): Promise<void>;
}

/** Where the service keeps its data. */
export interface SourcePlace {
  readonly dataDir: string;
  /** Address of its database, when that is not a file in the folder. */
  readonly database?: string | undefined;
  /** See `secretKey` of the service's options. */
  readonly secretKey?: string | undefined;
}

/**
 * Opens the store of a service, whether it runs or not. A process that may read the folder acts for its owner.
 *
 * @throws SvcError `invalid_config`, field `dataDir`, when no service was ever started there; field `database`.
 */
export async function openSourceAdmin(place: SourcePlace): Promise<SourceAdmin> {
  const dataDir = resolve(place.dataDir);
  // A file that is not there would be made.
  if (place.database === undefined && !existsSync(join(dataDir, STORE_FILE))) throw neverStarted();
  const store = await connectStore(place.database ?? join(dataDir, STORE_FILE), () => {});
  try {
    const accountId = await findAccount(store);
    if (accountId === undefined) throw neverStarted();
    return createAdmin(store, { accountId, key: await readSecretKey({ ...place, dataDir, isInUse }) });
  } catch (error) {
    await store.destroy();
    throw error;
  }
}

/** Only the service itself, which holds the lock of the folder, replaces a damaged key. */
const isInUse = async () => true;

function createAdmin(store: Store, o: { accountId: string; key: Buffer }): SourceAdmin {
  const sources = createSourceStore(store, Date.now);

  async function openConnections(): Promise<Connections> {
    const added = (await sources.list()).flatMap((source) => (isStopped(source) ? [] : [toIntegration(source)]));
    const catalog = { integrations: [...builtInIntegrations, ...added] };
    const seal = createSettingsSeal(createSecretBox(o.key), catalog);
    return createConnections({ store, accountId: o.accountId, catalog, seal, now: Date.now });
  }

  async function checkFree(slug: string, { replace = false } = {}): Promise<void> {
    const others = (await sources.listRevisions()).map((known) => known.slug);
    checkSlug(slug, [
      ...builtInIntegrations.map((known) => known.slug),
      ...others.filter((o) => !replace || o !== slug),
    ]);
  }

  return {
    list: () => sources.list(),
    find: (slug) => sources.find(slug),
    accept: (slug, digest) => sources.accept(slug, digest),
    setLevels: (shown, change) => sources.setLevels(shown, change),

    checkSlug: checkFree,

    async add(source, { replace = false, connection } = {}) {
      await checkFree(source.slug, { replace });
      await sources.put(source);
      const connections = await openConnections();
      const [first, ...others] = await connections.list(source.slug);
      if (first === undefined && connection !== undefined) {
        await connections.add({ integration: source.slug, ...connection, isDefault: true });
      } else if (first !== undefined && connection !== undefined && others.length === 0) {
        const settings = { ...first.settings, ...connection.settings };
        await connections.update(first.id, { settings, state: "healthy" });
      }
      return { isConnected: first !== undefined || connection !== undefined };
    },

    async remove(slug) {
      if (!(await sources.remove(slug))) return false;
      const connections = await openConnections();
      const left = await connections.list(slug);
      for (const { id } of left) await connections.remove(id);
      const accessTokens = createAccessTokens({ store, box: createSecretBox(o.key), now: Date.now });
      await Promise.all(left.map(({ settings }) => accessTokens.forget(settings, [])));
      return true;
    },

    close: () => store.destroy(),
  };
}

/** As much of an app as its connections need. */
function toIntegration(source: IntegrationSource): Integration {
  const run = () => Promise.reject(new Error("The owner's administration runs no actions."));
  return createAddedIntegration(source, run);
}

function neverStarted(): SvcError {
  return new SvcError("invalid_config", "No service has been started on this data folder yet.", {
    field: "dataDir",
    hint: 'Start it once with "svc serve", or name its folder with --data.',
  });
}
