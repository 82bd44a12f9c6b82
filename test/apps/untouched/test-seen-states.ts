import { rmSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createCalendarIntegration } from "../../../src/apps/calendar/calendar-integration.ts";
import { createContactsIntegration } from "../../../src/apps/contacts/contacts-integration.ts";
import { checkSeenState, type SharedAccount } from "./check-seen-state.ts";
import { listContentWrites } from "./content-writes.ts";
import { COMMON, startDavAccount } from "./dav-account.ts";
import { openFolderAccount } from "./folder-account.ts";

const PLACES = [
  ["calendar", "in a folder"],
  ["calendar", "on a server"],
  ["contacts", "in a folder"],
  ["contacts", "on a server"],
] as const;

/** Tests that no write acts on another state than the one that was shown, on so many random accounts of each back end. */
export function testSeenStates(runs: number): void {
  it.each(PLACES)("%s %s", { timeout: 3_600_000 }, async (app, place) => {
    const root = await mkdtemp(join(tmpdir(), "svc-seen-"));
    const integration = app === "calendar" ? createCalendarIntegration() : createContactsIntegration();
    const settings = { ...COMMON, folder: root };
    const server = place === "on a server" ? await startDavAccount() : undefined;
    const account = server ?? openSharedFolder(root, settings);
    try {
      const tally = await checkSeenState(listContentWrites(app), { integration, account, runs });
      expect(tally.ran).toBeGreaterThan(runs / 5);
      expect(tally.changed).toBeGreaterThan(runs / 10);
    } finally {
      await integration.close?.();
      await server?.close();
      await rm(root, { recursive: true });
    }
  });
}

function openSharedFolder(root: string, settings: Record<string, unknown>): SharedAccount {
  return {
    ...openFolderAccount(root, { settings }),
    async put(path, text) {
      if (text === undefined) rmSync(join(root, path));
      else writeFileSync(join(root, path), text, "latin1");
    },
  };
}
