import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { openFaultSession } from "./fault-lab.ts";

/** Calls a service for as long as it is told, and prints one JSON line of what it holds at each look. */

const [url = "", apiKey = "", stateDir = "", seconds = "1", looks = "2"] = process.argv.slice(2);
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
/** Calls at the same time. */
const WIDTH = 8;
/** One of these many calls is a write. */
const WRITE_EVERY = 10;

const { session, close } = await openFaultSession({ url, apiKey }, { stateDir, maxResultChars: 1_000 });
let calls = 0;
let failed = 0;

/** Goes on until both have been reached, so that a busy machine does not make a look of few calls. */
async function callUntil(end: number, least: number): Promise<void> {
  while (performance.now() < end || calls < least) {
    calls += 1;
    const callId = `call ${calls}`;
    const isWrite = calls % WRITE_EVERY === 0;
    // Now and then one that is stored as a file of its own.
    const text = calls % 97 === 0 ? callId.repeat(500) : callId;
    const toolName = isWrite ? "probe_write_text" : "probe_echo";
    const { status } = await session.call({ callId, toolName, arguments: { text } });
    if (status !== "succeeded") failed += 1;
  }
}

async function measureFolder(
  name: string,
  isOurs = (_file: string) => true,
): Promise<{ files: number; bytes: number }> {
  const names = (await readdir(join(stateDir, name)).catch(() => [])).filter(isOurs);
  // A file that is written is replaced by another at any moment.
  const found = await Promise.all(names.map((file) => stat(join(stateDir, name, file)).catch(() => undefined)));
  const sizes = found.flatMap((stats) => stats?.size ?? []);
  return { files: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}

let perLook = 0;
for (let look = 0; look < Number(looks); look += 1) {
  const least = calls + perLook;
  const end = performance.now() + (1_000 * Number(seconds)) / Number(looks);
  await Promise.all(Array.from({ length: WIDTH }, () => callUntil(end, least)));
  // Half, so that the whole takes its time and not much more, whatever else the machine does after a quiet start.
  if (look === 0) perLook = Math.ceil(calls / 2);
  collect();
  console.log(
    JSON.stringify({
      calls,
      failed,
      heap: process.memoryUsage().heapUsed,
      outside: process.memoryUsage().external,
      resources: process.getActiveResourcesInfo().length,
      handles: (await readdir("/proc/self/fd").catch(() => [])).length,
      journal: await measureFolder(".", (file) => file.startsWith("state.db")),
      results: await measureFolder("results"),
      catalog: await measureFolder("catalog"),
    }),
  );
}
await close();
