import { renameSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";

/** Swaps two entries as fast as it can until it is told to stop. */
const { folder, link, spare } = workerData as { folder: string; link: string; spare: string };
let running = true;
parentPort?.on("message", () => {
  running = false;
});

let removed = 0;

/** Renames over whatever an upload may have made there in between. */
function put(from: string, to: string): void {
  for (;;) {
    try {
      renameSync(from, to);
      return;
    } catch {
      removed += 1;
      renameSync(to, `${spare}-${removed}`);
    }
  }
}

function swap(): void {
  for (let n = 0; n < 200; n++) {
    put(folder, spare);
    put(link, folder);
    put(folder, link);
    put(spare, folder);
  }
  if (running) setImmediate(swap);
  else parentPort?.close();
}
swap();
