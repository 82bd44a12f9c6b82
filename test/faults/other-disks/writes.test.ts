import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, inject, test } from "vitest";
import { startTestService } from "../../../src/testing.ts";
import { type WatchedProcess, watchProcess } from "../../e2e/watch-process.ts";
import { findFreePort } from "../../service/free-port.ts";
import { fillApp, runWrite, WRITES } from "../kit/every-write.ts";
import { MOUNTS, UNSHARE, UNSHARE_FLAGS } from "./disks.ts";

/** Where the service and its data lie, and what stands before the flags of mail there. */
const PLACES = [
  ["on exFAT", MOUNTS.exFAT, ";"],
  ["on NTFS with the names of Windows", MOUNTS.NTFS, ";"],
  ["without /proc", "mount -t tmpfs none /proc", ":"],
] as const;

let scratch: string;
let served: WatchedProcess | undefined;
let pid = 0;
beforeEach(async () => {
  pid = 0;
  scratch = await mkdtemp(join(tmpdir(), "svc-places-"));
});
afterEach(async () => {
  // Not the one that holds the mounts: a server of FUSE that outlives it waits for itself.
  if (pid > 0) process.kill(pid, "SIGKILL");
  await served?.done;
  await rm(scratch, { recursive: true, force: true });
});

/** Starts the service in a place, and tells where its data folder is seen from here. */
async function serveIn(words: string) {
  const folder = join(scratch, "disk");
  await mkdir(folder);
  const port = await findFreePort();
  const secretKey = "a secret that the disk does not keep";
  const first = await startTestService({ dataDir: join(folder, "data"), port, secretKey });
  await first.close();
  const script = `read -r pid _ < /proc/self/stat; mount -t proc proc /proc; image=$0/image folder=$0/disk
    mv "$folder/data" "$0/made" && ${words} && { [ -e "$folder/data" ] || cp -r "$0/made" "$folder/data"; } && echo "pid $pid" && exec "$@"`;
  const svc = [process.execPath, inject("program"), "serve", "--port", String(port), "--data", join(folder, "data")];
  served = watchProcess(UNSHARE, [...UNSHARE_FLAGS, "sh", "-c", script, scratch, ...svc], {
    env: { ...process.env, SVC_HOME: scratch, SVC_SECRET: secretKey },
  });
  pid = Number((await served.waitFor(/pid (\d+)/))[1]);
  await served.waitFor(/Listening on/);
  return { service: { url: first.url, apiKey: first.apiKey }, dataDir: join(`/proc/${pid}/root`, folder, "data") };
}

describe.each(PLACES)("a service %s", (_, words, mark) => {
  test("does every write, and leaves nothing half", async () => {
    const { service, dataDir } = await serveIn(words);
    const told: unknown[] = [];
    for (const [tool, args] of WRITES) {
      await fillApp(dataDir, tool.split("_")[0]!, mark);
      told.push([tool, await runWrite(service, tool, args)]);
    }
    expect(told).toEqual(WRITES.map(([tool]) => [tool, "done"]));
    const left = await readdir(dataDir, { recursive: true });
    expect(left.filter((name) => /(?:^|\/)tmp\/./.test(name))).toEqual([]);
  });
});
