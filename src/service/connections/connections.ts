import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { Integration } from "../../apps/port/integration.ts";
import { createId } from "../../shared/base/ids.ts";
import { toPlainText } from "../../shared/card/plain-text.ts";
import type { SettingsSeal } from "../secrets/settings-seal.ts";
import { ServiceError } from "../service-error.ts";
import { jsonText, type Store, takeTurn } from "../store/open-store.ts";
import type { ConnectionRow } from "../store/schema.ts";
import type { Connection, ConnectionChange, Connections, Settings } from "./connection.ts";

/** Creates the connections of one account. */
export function createConnections(o: {
  store: Store;
  accountId: string;
  /** The integrations as they are when it is looked. */
  catalog: { readonly integrations: readonly Integration[] };
  seal: SettingsSeal;
  now: () => number;
}): Connections {
  const { store, accountId, seal } = o;
  const at = () => new Date(o.now()).toISOString();

  async function takeDefault(db: Store, { integration, id }: { integration: string; id: string }): Promise<void> {
    await db
      .updateTable("connections")
      .set({ is_default: 0, updated_at: at() })
      .where("account_id", "=", accountId)
      .where("integration", "=", integration)
      .where("id", "!=", id)
      .execute();
  }

  return {
    async list(integration) {
      let query = store.selectFrom("connections").selectAll().where("account_id", "=", accountId);
      if (integration !== undefined) query = query.where("integration", "=", integration);
      return (await query.orderBy("created_at").orderBy("id").execute()).map((row) => fromRow(row, seal));
    },

    async add(connection) {
      const known = o.catalog.integrations.find((integration) => integration.slug === connection.integration);
      if (known === undefined) {
        throw new ServiceError(404, "integration_not_found", `There is no integration "${connection.integration}".`);
      }
      const identity = { id: createId("con"), integration: connection.integration };
      const row: ConnectionRow = {
        ...identity,
        account_id: accountId,
        label: connection.label,
        settings: JSON.stringify(seal.seal(identity, connection.settings)),
        scopes: JSON.stringify(connection.scopes ?? known.scopes),
        state: "healthy",
        is_default: connection.isDefault ? 1 : 0,
        created_at: at(),
        updated_at: at(),
      };
      await store.transaction().execute(async (transaction) => {
        await takeTurn(transaction, "connections");
        row.created_at = await findNextTime(transaction, row);
        await transaction.insertInto("connections").values(row).execute();
        if (connection.isDefault) await takeDefault(transaction, row);
      });
      return fromRow(row, seal);
    },

    async update(id, change, was) {
      const row = await store.transaction().execute(async (transaction) => {
        await takeTurn(transaction, "connections");
        const own = transaction.selectFrom("connections").selectAll().where("id", "=", id);
        const known = await own.where("account_id", "=", accountId).executeTakeFirst();
        if (known === undefined) return undefined;
        if (was !== undefined && !isDeepStrictEqual(fromRow(known, seal).settings, was)) return known;
        const changed = await transaction
          .updateTable("connections")
          .set({ ...toColumns(change, (settings) => seal.seal(known, settings)), updated_at: at() })
          .where("id", "=", id)
          .returningAll()
          .executeTakeFirst();
        if (changed !== undefined && change.isDefault) await takeDefault(transaction, changed);
        return changed;
      });
      if (row === undefined) throw unknownConnection(id);
      return fromRow(row, seal);
    },

    async remove(id) {
      const result = await store
        .deleteFrom("connections")
        .where("id", "=", id)
        .where("account_id", "=", accountId)
        .executeTakeFirst();
      if (result.numDeletedRows === 0n) throw unknownConnection(id);
    },
  };
}

/** Connections are listed in the order they were made in, so no two of an account have the same time. */
async function findNextTime(store: Store, { account_id, created_at }: ConnectionRow): Promise<string> {
  const newest = await store
    .selectFrom("connections")
    .select((e) => e.fn.max("created_at").as("created_at"))
    .where("account_id", "=", account_id)
    .executeTakeFirst();
  const last = newest?.created_at ?? "";
  return last < created_at ? created_at : new Date(Date.parse(last) + 1).toISOString();
}

function unknownConnection(id: string): ServiceError {
  return new ServiceError(404, "connection_not_found", `There is no connection "${id}".`);
}

function toColumns(change: ConnectionChange, seal: (settings: Settings) => Settings): Partial<ConnectionRow> {
  return {
    ...(change.state !== undefined && { state: change.state }),
    ...(change.scopes !== undefined && { scopes: JSON.stringify(change.scopes) }),
    ...(change.settings !== undefined && { settings: JSON.stringify(seal(change.settings)) }),
    ...(change.label !== undefined && { label: change.label }),
    ...(change.isDefault !== undefined && { is_default: change.isDefault ? 1 : 0 }),
  };
}

/** A row that makes no sense is a connection that does not work: it can be reconnected or disconnected like any other. */
function fromRow(row: ConnectionRow, seal: SettingsSeal): Connection {
  const stored = settingsSchema.safeParse(row.settings);
  const scopes = scopesSchema.safeParse(row.scopes);
  const { settings, unreadable } = seal.open(row, stored.data ?? {});
  const isDamaged = !stored.success || !scopes.success || unreadable.length > 0;
  const state = stateSchema.parse(row.state);
  return {
    id: row.id,
    integration: row.integration,
    label: toPlainText(row.label),
    settings,
    scopes: scopes.data ?? [],
    // Without its secret a connection cannot work, whatever the store says.
    state: isDamaged && state === "healthy" ? "error" : state,
    ...(unreadable.length > 0 && { hasLostSecrets: true }),
    isDefault: row.is_default === 1,
  };
}

const settingsSchema = jsonText.pipe(z.record(z.string(), z.unknown()));
const scopesSchema = jsonText.pipe(z.array(z.string()));
const stateSchema = z.enum(["healthy", "reauth_required", "error"]).catch("error");

/** Initial connections of a new data folder: plain folders below it, no network. */
const FIRST_APPS: readonly {
  slug: string;
  label: string;
  settings: (folder: string) => Record<string, unknown>;
  /** Folders inside its own. */
  inside?: readonly string[];
}[] = [
  { slug: "calendar", label: "Local calendars", settings: (folder) => ({ folder }) },
  { slug: "contacts", label: "Local contacts", settings: (folder) => ({ folder }) },
  { slug: "drive", label: "Local drive", settings: (folder) => ({ folder }) },
  { slug: "feeds", label: "Feeds", settings: (folder) => ({ folder }) },
  {
    slug: "mail",
    label: "Local mailbox",
    settings: (folder) => ({ maildir: folder, address: "me@localhost" }),
    // A mail program may deliver before the first call.
    inside: ["cur", "new", "tmp"],
  },
  { slug: "notes", label: "Local notes", settings: (folder) => ({ folder }) },
];

/** True for a connection that {@link connectFirstApps} made, with the settings it had then. */
export function isFirstApp({ integration, settings }: Connection, dataDir: string): boolean {
  const first = FIRST_APPS.find(({ slug }) => slug === integration);
  return first !== undefined && isDeepStrictEqual(settings, first.settings(join(dataDir, integration)));
}

/** Connects the apps that work on local folders, each in its own folder (0700) below `dataDir`. */
export async function connectFirstApps(
  connections: Connections,
  integrations: readonly Integration[],
  dataDir: string,
): Promise<void> {
  for (const { slug, label, settings, inside = [] } of FIRST_APPS) {
    if (!integrations.some((integration) => integration.slug === slug)) continue;
    const folder = join(dataDir, slug);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const name of inside) await mkdir(join(folder, name), { recursive: true, mode: 0o700 });
    await connections.add({ integration: slug, label, settings: settings(folder), isDefault: true });
  }
}

/** The connection a call without `connectionId` uses: the only one, or the one marked as default. */
export function findDefaultConnection<C extends Pick<Connection, "isDefault">>(
  connections: readonly C[],
): C | undefined {
  return connections.length === 1 ? connections[0] : connections.find((connection) => connection.isDefault);
}
