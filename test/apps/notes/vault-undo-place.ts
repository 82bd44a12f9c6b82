import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createNotesIntegration } from "../../../src/apps/notes/notes-integration.ts";
import type { Roll } from "../../fixtures/content-files.ts";
import { type Holdings, sorted } from "../untouched/check-write.ts";
import { openFolderAccount } from "../untouched/folder-account.ts";
import { VAULT_WRITES } from "../untouched/vault-writes.ts";
import type { UndoPlace } from "./check-undo.ts";

const isAside = (path: string) => path.startsWith(".trash/");

/** A vault: files are compared byte for byte, and folders by their names; `.trash` is left out. */
export async function openVaultUndo(): Promise<UndoPlace> {
  const root = mkdtempSync(join(tmpdir(), "svc-test-"));
  const account = openFolderAccount(root, { settings: { folder: root }, keepsFolders: true });
  return {
    integration: createNotesIntegration(),
    account: { ...account, close: async () => rmSync(root, { recursive: true, force: true }) },
    writes: VAULT_WRITES,
    compare: (things) => sorted(things).filter(([path]) => !isAside(path)),
    async meddle(roll: Roll, { before, after }: { before: Holdings; after: Holdings }) {
      const isFile = (path: string) => !path.endsWith("/");
      const gone = [...before.keys()].find((path) => isFile(path) && !after.has(path));
      const touched = [...after].find(([path, bytes]) => isFile(path) && !isAside(path) && before.get(path) !== bytes);
      const trashed = [...after.keys()].find((path) => isFile(path) && isAside(path));
      // Where nothing was done: any page.
      const named = touched?.[0] ?? (gone === undefined ? undefined : trashed) ?? [...after.keys()].find(isFile) ?? "";
      if (gone !== undefined && roll(2) === 0) {
        mkdirSync(join(root, dirname(gone)), { recursive: true });
        writeFileSync(join(root, gone), "theirs");
      } else if (roll(2) === 0) rmSync(join(root, named));
      else appendFileSync(join(root, named), "theirs");
    },
  };
}
