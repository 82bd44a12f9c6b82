import { join } from "node:path";
import { openPlace } from "../place.ts";
import type { Subject } from "../subject.ts";

const ACTION = "/api/tools/notes_create_page/execute";

/** More and more calls that wait for the owner, up to the limit of 500; they are held as callers make them. */
export function approvalsSubject(o: { readonly folder: string; readonly sizes: readonly number[] }): Subject {
  return {
    name: "approvals",
    title: "Held calls",
    things: "calls that wait",
    sizes: o.sizes,
    fullFrom: { "inbox page": 100 },
    async open(size) {
      let held = "";
      let made = 0;
      const place = await openPlace({
        dataDir: join(o.folder, `approvals-${size}`),
        prepare: async (service) => {
          held = await service.createKey("Held", { approvals: "owner" });
        },
        fill: async () => {},
      });
      const hold = () => {
        made += 1;
        const body = { arguments: { title: `Page ${made}`, body: "Some text" }, confirmed: true };
        return place.post(ACTION, body, { key: held, status: 412 });
      };
      for (let count = 0; count < size; count += 1) await hold();
      return {
        ...place,
        requests: {
          "inbox page": () => place.look("/inbox"),
          "hold one more, then withdraw it": async () => {
            const { json } = await hold();
            await place.post(`/api/approvals/${json.error.approval.id}/cancel`, {}, { key: held });
          },
        },
      };
    },
  };
}
