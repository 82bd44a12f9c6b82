import { join } from "node:path";
import { openBlobs } from "./files/open-blobs.ts";
import { createSecretBox, hasSealed, readSecretKey } from "./secrets/secret-box.ts";
import { checkSharedKey } from "./secrets/service-keys.ts";
import type { CheckedOptions } from "./service-options.ts";
import { claimDataFolder, STORE_FILE } from "./store/data-folder.ts";
import { type Node, openNode } from "./store/node.ts";
import { connectStore, inTurnOfStarts, isShared } from "./store/open-store.ts";
import { openStoreStates } from "./store/store-states.ts";

/** The infrastructure of a service: its folder, store and files, the key of its secrets, and its place among other processes. */
export type Infrastructure = Awaited<ReturnType<typeof openInfrastructure>>;

/** Heartbeats after which another process counts as working beside this one. */
const SEEN_OFTEN = 5;

function warnOfLocalFiles(node: Node, { log }: CheckedOptions): void {
  let seen = 0;
  node.onBeat(async () => {
    if (seen > SEEN_OFTEN) return;
    seen = (await node.listAlive()).length > 1 ? seen + 1 : 0;
    if (seen <= SEEN_OFTEN) return;
    const message =
      "Several processes share this database, but this one keeps files to itself: give all the same files.";
    log({ level: "warn", message });
  });
}

/** Opens the infrastructure; what was opened is handed to `onClose` at once, also when a later part fails. */
export async function openInfrastructure(o: CheckedOptions, onClose: (undo: () => Promise<unknown>) => void) {
  const { now, dataDir } = o;
  const folder = await claimDataFolder(dataDir, { ...o, startedAt: new Date(now()).toISOString() });
  onClose(() => folder.release());
  const { blobs, close } = await openBlobs(o.files, o);
  onClose(close);
  const place = o.database ?? join(dataDir, STORE_FILE);
  const store = await connectStore(place, o.log);
  onClose(() => store.destroy());
  const states = openStoreStates(store, place);
  onClose(async () => states.close());
  const box = createSecretBox(await readSecretKey({ ...o, isInUse: () => hasSealed(store) }));
  if (isShared(store)) await inTurnOfStarts(store, () => checkSharedKey(store, box, now()));
  const node = await openNode({ ...o, store, isShared: isShared(store) });
  onClose(() => node.close());
  if (isShared(store) && o.files === dataDir) warnOfLocalFiles(node, o);
  return { folder, store, states, box, node, blobs };
}
