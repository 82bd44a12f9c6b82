import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { createCalendarIntegration } from "../../../../src/apps/calendar/calendar-integration.ts";
import { createContactsIntegration } from "../../../../src/apps/contacts/contacts-integration.ts";
import type { SharedAccount } from "../../untouched/check-seen-state.ts";
import type { Write } from "../../untouched/check-write.ts";
import { listContentWrites } from "../../untouched/content-writes.ts";
import { COMMON, startDavAccount } from "../../untouched/dav-account.ts";
import { openFolderAccount } from "../../untouched/folder-account.ts";
import { checkUndo } from "./check-undo.ts";

const APPS = { calendar: createCalendarIntegration, contacts: createContactsIntegration };

function openFolder(root: string): SharedAccount & { close(): Promise<void> } {
  return {
    ...openFolderAccount(root, { settings: { ...COMMON, folder: root } }),
    async put(path, text) {
      if (text === undefined) return rmSync(join(root, path));
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text, "latin1");
    },
    close: async () => {},
  };
}

/** Takes back so many random writes in every place of calendars and contacts that needs no program beside this one. */
export function testUndo(runs: number): void {
  it.each([
    ["calendar", "folder"],
    ["calendar", "server"],
    ["contacts", "folder"],
    ["contacts", "server"],
  ] as const)("%s on a %s", { timeout: 3_600_000 }, async (app, where) => {
    const integration = APPS[app]();
    const root = await mkdtemp(join(tmpdir(), "svc-undo-"));
    const account = where === "folder" ? openFolder(root) : await startDavAccount();
    try {
      const writes = listContentWrites(app) as [Write, ...Write[]];
      const tally = await checkUndo(writes, { integration, account, hasTrash: where === "folder", runs });
      expect(tally.undone).toBeGreaterThan(runs / 5);
      expect(tally.refused).toBeGreaterThan(runs / 10);
      expect(tally.lost).toBeGreaterThan(runs / 10);
      expect(tally.idle).toBeLessThan(runs / 3);
    } finally {
      await integration.close?.();
      await account.close();
      await rm(root, { recursive: true });
    }
  });
}
