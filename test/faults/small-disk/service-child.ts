import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { ToolOutcome } from "../../../src/plugin/calls/outcome.ts";
import { startTestService } from "../../../src/testing.ts";
import { createProbe } from "../../contract/probe-integration.ts";
import { openFaultSession } from "../kit/fault-lab.ts";
import { useSmallDisk } from "./disk.ts";

/** The service's data folder is full: before a write, while the provider acts, and no longer. Prints what came of it. */

const disk = useSmallDisk(process.argv[2] ?? "");
const probe = createProbe();
const actions = probe.integration.actions.map((action) => ({
  ...action,
  run: async (...call: Parameters<typeof action.run>) => {
    const result = await action.run(...call);
    if (String(call[0].text).startsWith("while")) disk.fill();
    return result;
  },
}));
const service = await startTestService({
  dataDir: join(disk.folder, "data"),
  integrations: [{ ...probe.integration, actions }],
  heartbeatMs: 50,
});
await service.service.connections.add({ integration: "probe", label: "First", settings: {} });

const calls: { text: string; outcome: ToolOutcome; effects: number }[] = [];
for (const idempotencyKeys of ["when_known", "off"] as const) {
  const { session, makeFile, close } = await openFaultSession(service, { idempotencyKeys });
  const call = async (text: string) => {
    const outcome = await session.call({ callId: text, toolName: "probe_write_text", arguments: { text } });
    const effects = probe.calls.filter((one) => one.args.text === text).length;
    calls.push({ text, outcome, effects });
  };
  await call(`first ${idempotencyKeys}`);
  await call(`while ${idempotencyKeys}`);
  for (let turn = 0; turn < 20; turn += 1) {
    disk.fill();
    await call(`full ${idempotencyKeys} ${turn}`);
  }
  const file = await makeFile("a.txt", "a".repeat(100_000));
  const before = probe.calls.length;
  const outcome = await session.call({ callId: "file", toolName: "probe_store_file", arguments: { file } });
  calls.push({ text: `full, with a file, ${idempotencyKeys}`, outcome, effects: probe.calls.length - before });
  disk.free();
  await call(`freed ${idempotencyKeys}`);
  await close();
}

async function countByStatus(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { status } of await service.effects()) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

// What could not be written while the disk was full is written soon after.
for (let look = 0; look < 100 && (await countByStatus()).started !== undefined; look += 1) await delay(50);
console.log(JSON.stringify({ calls, effects: probe.calls.length, recorded: await countByStatus() }));
await service.close();
