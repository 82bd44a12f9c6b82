import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL("../../../../pieces/node_modules/@activepieces", import.meta.url));

/** Folders of the pieces that tests use; undefined when they are not installed. */
export function findPieces(): readonly string[] | undefined {
  const folders = ["piece-notion", "piece-slack"].map((name) => `${FOLDER}/${name}`);
  return folders.every((folder) => existsSync(folder)) ? folders : undefined;
}
