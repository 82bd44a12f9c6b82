import { join } from "node:path";
import { sql } from "kysely";
import { copyRows, numbered, spacedTime } from "../fill.ts";
import { openPlace } from "../place.ts";
import type { Subject } from "../subject.ts";

/** More and more accounts of one app. */
export function connectionsSubject(o: { readonly folder: string; readonly sizes: readonly number[] }): Subject {
  return {
    name: "connections",
    title: "Connections",
    things: "accounts of one app",
    sizes: o.sizes,
    reasons: { "connections page": "it shows all accounts" },
    async open(size) {
      const place = await openPlace({
        dataDir: join(o.folder, `connections-${size}`),
        async fill(store) {
          const change = {
            id: numbered("con_b"),
            label: numbered("Drive "),
            is_default: sql`0`,
            created_at: spacedTime(store, Date.now(), 60),
          };
          await copyRows(store, "connections", { count: size, where: sql`o.integration = 'drive'`, change });
          // So that there are exactly so many.
          await store
            .deleteFrom("connections")
            .where("integration", "=", "drive")
            .where("is_default", "=", 1)
            .execute();
        },
      });
      const execute = () =>
        place.post("/api/tools/drive_list_files/execute", { arguments: {}, connectionId: `con_b${(size >> 1) + 1}` });
      return {
        ...place,
        requests: {
          "list of tools": () => place.get("/api/tools"),
          "execute with a chosen one": execute,
          "connections page": () => place.look("/connections"),
        },
      };
    },
  };
}
