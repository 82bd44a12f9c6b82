import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import type { Store } from "../../../src/service/store/open-store.ts";
import { readCpuOf } from "../cost.ts";
import { copyRows, numbered, spacedTime } from "../fill.ts";
import { openPlace, type Place } from "../place.ts";
import type { Subject } from "../subject.ts";

const FLOW = { flowTemplate: "notes_reminder", input: { text: "Look", delaySeconds: 30_000_000 } };
const IDLE_MS = 1_000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** More and more flows that wait for an approval. */
export function flowsSubject(o: { readonly folder: string; readonly sizes: readonly number[] }): Subject {
  return {
    name: "flows",
    title: "Flows",
    things: "flows that wait",
    sizes: o.sizes,
    reasons: { "a second of idling": "its millisecond or two are a matter of chance" },
    fullFrom: { "list of flows": 100, "inbox page": 100 },
    async open(size) {
      const place = await openPlace({
        dataDir: join(o.folder, `flows-${size}`),
        async prepare({ url, apiKey }) {
          const headers = { "content-type": "application/json", "x-svc-api-key": apiKey };
          await fetch(`${url}/api/flows/start`, { method: "POST", headers, body: JSON.stringify(FLOW) });
        },
        fill: (store) => fillFlows(store, size),
      });
      return {
        ...place,
        requests: {
          "list of flows": () => place.get("/api/flows"),
          "inbox page": () => place.look("/inbox"),
          "start of one more": () => place.post("/api/flows/start", FLOW),
          "start, then approve": () => startAndApprove(place),
        },
        works: { "start of the service": () => place.restart(), "a second of idling": () => idle(place.pid()) },
      };
    },
  };
}

async function fillFlows(store: Store, size: number): Promise<void> {
  const { id } = await store.selectFrom("flows").select("id").executeTakeFirstOrThrow();
  const time = spacedTime(store, Date.now() - DAY_MS, DAY_MS / 1000 / size);
  const change = { id: numbered("flw_b"), created_at: time, updated_at: time };
  await copyRows(store, "flows", { count: size, where: sql`o.id = ${id}`, change });
  const step = { flow_id: numbered("flw_b") };
  await copyRows(store, "flow_steps", { count: size, where: sql`o.flow_id = ${id}`, change: step });
}

async function startAndApprove(place: Place): Promise<void> {
  const { json } = await place.post("/api/flows/start", FLOW);
  await place.post(`/api/flows/${json.flowId}/approve`, {});
}

async function idle(pid: number) {
  const before = readCpuOf(pid);
  await delay(IDLE_MS);
  return { ms: IDLE_MS, cpuMs: readCpuOf(pid) - before };
}
