import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "vitest";
import { createCalendarIntegration } from "../../../src/apps/calendar/calendar-integration.ts";
import { createContactsIntegration } from "../../../src/apps/contacts/contacts-integration.ts";
import { createDriveIntegration } from "../../../src/apps/drive/drive-integration.ts";
import { createFeedsIntegration } from "../../../src/apps/feeds/feeds-integration.ts";
import { createMailIntegration } from "../../../src/apps/mail/mail-integration.ts";
import { createNotesIntegration } from "../../../src/apps/notes/notes-integration.ts";
import type { Integration } from "../../../src/apps/port/integration.ts";
import { readAllowedHosts } from "../../../src/service/fetch/address-rules.ts";
import { startFeeds } from "../feeds/start-feeds.ts";
import { type Account, checkWrite, type Write } from "./check-write.ts";
import { listContentWrites } from "./content-writes.ts";
import { COMMON, startDavAccount } from "./dav-account.ts";
import { DRIVE_WRITES, startBucketAccount, startWebdavAccount } from "./drive-writes.ts";
import { listFeedWrites } from "./feed-writes.ts";
import { openFolderAccount } from "./folder-account.ts";
import { MAIL_WRITES, openMaildirAccount } from "./mail-writes.ts";
import { NOTION_WRITES, startNotionAccount } from "./notion-writes.ts";
import { VAULT_WRITES } from "./vault-writes.ts";

interface Place {
  readonly integration: Integration;
  readonly writes: readonly Write[];
  readonly account: Account & { close?(): Promise<void> };
}

/** Every back end of every app, each opened with an empty folder of its own. */
const PLACES: Readonly<Record<string, (root: string) => Place | Promise<Place>>> = {
  "calendar in a folder": (root) => openContent("calendar", root),
  "calendar on a server": () => openContent("calendar"),
  "contacts in a folder": (root) => openContent("contacts", root),
  "contacts on a server": () => openContent("contacts"),
  "drive in a folder": (root) => ({
    integration: createDriveIntegration(),
    writes: DRIVE_WRITES,
    account: openFolderAccount(root, { settings: { folder: join(root, "own") }, keepsFolders: true }),
  }),
  "drive in a bucket": async () => ({
    integration: createDriveIntegration(),
    writes: DRIVE_WRITES,
    account: await startBucketAccount(),
  }),
  "drive on WebDAV": async () => ({
    integration: createDriveIntegration(),
    writes: DRIVE_WRITES,
    account: await startWebdavAccount(),
  }),
  "mail in a Maildir": (root) => ({
    integration: createMailIntegration(),
    writes: MAIL_WRITES,
    account: openMaildirAccount(root),
  }),
  "notes in a vault": (root) => ({
    integration: createNotesIntegration(),
    writes: VAULT_WRITES,
    account: openFolderAccount(root, { settings: { folder: root } }),
  }),
  "notes in Notion": async () => ({
    integration: createNotesIntegration({ wait: async () => {} }),
    writes: NOTION_WRITES,
    account: await startNotionAccount(),
  }),
  "feeds in a folder": async (root) => {
    const host = await startFeeds();
    return {
      integration: createFeedsIntegration({ allowed: readAllowedHosts([host.host]) }),
      writes: listFeedWrites(host),
      account: { ...openFolderAccount(root, { settings: { folder: root } }), close: () => host.close() },
    };
  },
};

async function openContent(app: "calendar" | "contacts", folder?: string): Promise<Place> {
  const integration = app === "calendar" ? createCalendarIntegration() : createContactsIntegration();
  const settings = { ...COMMON, folder };
  const account = folder === undefined ? await startDavAccount() : openFolderAccount(folder, { settings });
  return { integration, writes: listContentWrites(app), account };
}

/** Tests every write of every app and back end on so many random accounts each. */
export function testWrites(files: number): void {
  it.each(Object.entries(PLACES))("%s", { timeout: 3_600_000 }, async (_, open) => {
    const root = await mkdtemp(join(tmpdir(), "svc-writes-"));
    const { integration, writes, account } = await open(root);
    try {
      for (const write of writes) await checkWrite(write, { integration, account, files });
    } finally {
      await integration.close?.();
      await account.close?.();
      await rm(root, { recursive: true });
    }
  });
}
