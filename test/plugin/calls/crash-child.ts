import { setTimeout as delay } from "node:timers/promises";
import type { Approver } from "../../../src/plugin/calls/ask/request.ts";
import { createToolSession } from "../../../src/plugin/calls/session.ts";

/** One call in a process that is going to be killed; prints where it is and waits there. */

const [baseUrl = "", apiKey = "", stateDir = "", toolName = "", at = ""] = process.argv.slice(2);

async function reach(place: string): Promise<void> {
  console.log(`at ${place}`);
  if (place === at) await delay(60_000);
}

const approve: Approver = async ({ id, fingerprint }) => {
  await reach("asked");
  return { type: "approve", id, fingerprint };
};

const session = await createToolSession({ baseUrl, apiKey, stateDir, approve });
await session.call({ callId: "c1", toolName, arguments: { text: "once" } });
await reach("finished");
