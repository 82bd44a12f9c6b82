import { resolve } from "node:path";
import { builtInIntegrations } from "../../apps/built-in.ts";
import { createAddedIntegration } from "../../apps/port/create-added-integration.ts";
import type { Integration } from "../../apps/port/integration.ts";
import { checkSlug, type IntegrationSource, isStopped, type NewSource } from "../../apps/port/source.ts";
import type { Connections } from "../connections/connection.ts";
import { createConnections } from "../connections/connections.ts";
import { createAccessTokens } from "../connections/sign-in/access-tokens.ts";
import { createSecretBox, readSecretKey } from "../secrets/secret-box.ts";
import { createSettingsSeal } from "../secrets/settings-seal.ts";
import { openOwnStore, type StorePlace } from "../store/open-own-store.ts";
import type { Store } from "../store/open-store.ts";
import { createSourceStore, type SourceStore } from "./source-store.ts";

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
export interface SourcePlace extends StorePlace {
  /** See `secretKey` of the service's options. */
  readonly secretKey?: string | undefined;
}

/** Opens the store of a service; see {@link openOwnStore}. */
export async function openSourceAdmin(place: SourcePlace): Promise<SourceAdmin> {
  const { store, accountId } = await openOwnStore(place);
  const dataDir = resolve(place.dataDir);
  try {
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
    const catalog = { integrations: await listIntegrations(sources) };
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

/** Built-in and added apps, as far as this can be told from outside of the service: their actions cannot be run. */
export async function listIntegrations(sources: Pick<SourceStore, "list">): Promise<Integration[]> {
  const added = (await sources.list()).flatMap((source) => (isStopped(source) ? [] : [toIntegration(source)]));
  return [...builtInIntegrations, ...added];
}

function toIntegration(source: IntegrationSource): Integration {
  const run = () => Promise.reject(new Error("The owner's administration runs no actions."));
  return createAddedIntegration(source, run);
}
