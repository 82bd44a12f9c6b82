import { setTimeout as delay } from "node:timers/promises";
import { request } from "undici";
import type { ServiceProcess } from "../processes/start-service.ts";

const AT_ONCE = 8;
const POLL_MS = 5;

/** Flows per second from start to end: each runs a tool and a step on its result, and records both. */
export async function measureFlows({ url, apiKey }: ServiceProcess, seconds: number): Promise<number> {
  const headers = { "content-type": "application/json", "x-svc-api-key": apiKey };
  const body = JSON.stringify({ flowTemplate: "mail_unread_summary", input: {} });
  const begun = performance.now();
  const end = begun + seconds * 1_000;
  let count = 0;
  const work = async () => {
    while (performance.now() < end) {
      const started = await request(`${url}/api/flows/start`, { method: "POST", headers, body });
      const text = await started.body.text();
      if (started.statusCode !== 200) throw new Error(`A flow could not be started: ${text.slice(0, 300)}`);
      const { flowId, flow } = JSON.parse(text) as { flowId: string; flow: FlowAnswer };
      for (let status = flow.flow.status; status !== "completed"; ) {
        if (status === "failed") throw new Error("A flow failed.");
        await delay(POLL_MS);
        const reply = await request(`${url}/api/flows/${flowId}`, { headers });
        status = ((await reply.body.json()) as FlowAnswer).flow.status;
      }
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return count / ((performance.now() - begun) / 1_000);
}

interface FlowAnswer {
  readonly flow: { readonly status: string };
}
