import { type createRunner, holdFile } from "../run-action.ts";
import { upload } from "./drive-calls.ts";

/** Writes and reads texts of a drive through its own actions, in which nobody else is. */
export function openDriveHand(run: ReturnType<typeof createRunner>) {
  const read = async (path: string): Promise<string> => (await run("read_file", { path })).text;
  const hand = {
    read,
    async write(path: string, text: string): Promise<void> {
      const at = path.lastIndexOf("/");
      const [action, args] = upload(path.slice(0, Math.max(at, 0)), path.slice(at + 1), "replace");
      await run(action, args, { k: holdFile("w.txt", "text/plain", text) });
    },
    /** Everything but the trash: texts by paths, and folders. */
    async readAll(folder = ""): Promise<Record<string, string>> {
      const { entries } = await run("list_files", { folder, include_hidden: true });
      const all: Record<string, string> = {};
      for (const { path, type } of entries) {
        if (path === ".trash") continue;
        if (type === "file") all[path] = await read(path);
        else Object.assign(all, { [`${path}/`]: "" }, await hand.readAll(path));
      }
      return all;
    },
  };
  return hand;
}
