import { open } from "node:fs/promises";

/** Waits until the names in a folder are on the disk. Windows cannot open a folder; a rename is durable enough there. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
