import { expect, test } from "vitest";
import { type ImapFolder, isPutAwayIn } from "../../../src/apps/mail/server/imap-folders.ts";

/** Where a mail server's own marks, or a name, say that nobody looks for a message any more. */

const folder = (name: string, specialUse?: string): ImapFolder => ({ path: name, name, digest: name, specialUse });
const FOLDERS = [
  folder("INBOX", "\\Inbox"),
  folder("Archive", "\\Archive"),
  folder("Sent", "\\Sent"),
  folder("Nowhere", "\\Trash"),
  folder("Nowhere/2025"),
  folder("Quarantine", "\\Junk"),
  folder("Work"),
  folder("[Gmail]/Bin"),
];

test.each([
  ...[
    "Nowhere",
    "nowhere",
    "Trash",
    "Nowhere/2025",
    "Nowhere/new",
    "Quarantine",
    "Junk",
    "[Gmail]/Bin",
    "BIN",
    "Poubelle",
  ],
  ...["Work/.hidden", "Work/Gelo\u0308schte Elemente", "SPAM", "Work/ゴミ箱", "Çöp Kutusu", "ÇÖP KUTUSU"],
])("%s hides what is moved there", (name) => {
  expect(isPutAwayIn(FOLDERS, name)).toBe(true);
});

test.each(["INBOX", "Archive", "Sent", "Work", "Work/new", "Cabin", "Binary"])("%s does not", (name) => {
  expect(isPutAwayIn(FOLDERS, name)).toBe(false);
});
