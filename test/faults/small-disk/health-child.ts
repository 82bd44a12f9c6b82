import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openService } from "../../../src/service/open-service.ts";
import { createProbe } from "../../contract/probe-integration.ts";
import { useSmallDisk } from "./disk.ts";

/** The disk of the service is full, then read-only, and full at a first start. Prints what an operator and a caller see. */

const disk = useSmallDisk(process.argv[2] ?? "");
const probe = createProbe();
const log: string[] = [];
const MOUNT = "mount";
const files = join(disk.folder, "files");
const start = (folder: string) =>
  openService({
    dataDir: join(disk.folder, folder),
    files,
    port: 0,
    integrations: [probe.integration],
    heartbeatMs: 20,
    log: ({ level, message }) => log.push(`${level}: ${message}`),
  });

/** The folder of files is a mount of its own: one with open files, such as the database, cannot be made read-only. */
function mount(...args: string[]): void {
  const { status, stderr } = spawnSync(MOUNT, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
}
mkdirSync(files);
mount("--bind", files, files);

const service = await start("data");
await service.connections.add({ integration: "probe", label: "First", settings: {} });
const { apiKey } = await service.keys.issue({ accountId: service.accountId, label: "Test", client: null });

/** What is answered now; health is asked again until it has the status. */
async function look(wanted: number) {
  let health = await fetch(`${service.url}/health`);
  for (let turn = 0; turn < 200 && health.status !== wanted; turn += 1) health = await fetch(`${service.url}/health`);
  const call = await fetch(`${service.url}/api/tools/probe_write_text/execute`, {
    method: "POST",
    headers: { "x-svc-api-key": apiKey, "content-type": "application/json" },
    body: JSON.stringify({ arguments: { text: "x" }, confirmed: true }),
  });
  const { error } = (await call.json()) as { error?: { message: string } };
  return {
    health: health.status,
    problems: ((await health.json()) as { problems?: unknown }).problems ?? [],
    call: [call.status, error?.message ?? null],
    log: log.splice(0),
  };
}

const seen: Record<string, unknown> = { good: await look(200) };
disk.fill();
seen.full = await look(503);
disk.fill();
seen["full, later"] = await look(503);
disk.free();
seen.freed = await look(200);
mount("-o", "remount,bind,ro", files);
seen["read-only"] = await look(503);
mount("-o", "remount,bind,rw", files);
seen.writable = await look(200);
await service.close();

disk.fill();
const failed = await start("second").then(
  () => "started",
  (error: Error) => error.message,
);
disk.free();
const later = await start("second");
seen["first start"] = { failed: failed !== "started", later: (await fetch(`${later.url}/health`)).status };
await later.close();
console.log(JSON.stringify(seen));
