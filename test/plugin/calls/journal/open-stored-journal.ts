import { type Journal, openJournal, type StateFile } from "../../../../src/plugin/calls/journal/journal.ts";
import { openStateFile } from "../../../../src/plugin/calls/journal/state-file.ts";

/** A journal on the disk, with the file that it is in. */
export interface StoredJournal extends Journal {
  readonly state: StateFile;
  close(): Promise<void>;
}

/** Opens the journal in the state file of a folder, as another process would. */
export async function openStoredJournal(folder: string, options: { now?: () => number } = {}): Promise<StoredJournal> {
  const state = await openStateFile(folder);
  if (state === undefined) throw new Error("There is no node:sqlite here.");
  return { ...(await openJournal(state, options)), state, close: async () => state.close() };
}
