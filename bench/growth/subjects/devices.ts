import { join } from "node:path";
import { sql } from "kysely";
import { copyRows, numbered, spacedTime } from "../fill.ts";
import { openPlace } from "../place.ts";
import type { Subject } from "../subject.ts";

/** More and more devices, each with limits of its own. */
export function devicesSubject(o: { readonly folder: string; readonly sizes: readonly number[] }): Subject {
  return {
    name: "devices",
    title: "Devices",
    things: "devices",
    sizes: o.sizes,
    fullFrom: { "devices page": 100, "home page": 10 },
    async open(size) {
      const place = await openPlace({
        dataDir: join(o.folder, `devices-${size}`),
        async fill(store) {
          const { id } = await store.selectFrom("api_keys").select("id").executeTakeFirstOrThrow();
          const change = { id: numbered("key_b"), key_hash: numbered("h"), created_at: spacedTime(store, 0, 60) };
          await copyRows(store, "api_keys", { count: size - 1, where: sql`o.id = ${id}`, change });
          const grant = { subject: numbered("key_b"), scopes: sql`'{"levels":["read"]}'` };
          await copyRows(store, "grants", { count: size - 1, where: sql`o.subject = ${id}`, change: grant });
        },
      });
      return {
        ...place,
        requests: {
          "check of a key": () => place.get("/api/tools?limit=1"),
          "devices page": () => place.look("/devices"),
          "home page": () => place.look("/"),
          "inbox page": () => place.look("/inbox"),
        },
      };
    },
  };
}
