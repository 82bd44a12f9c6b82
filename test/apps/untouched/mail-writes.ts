import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ImapFlow } from "imapflow";
import { expect } from "vitest";
import { fromDiskName, toFolderParts } from "../../../src/apps/mail/maildir-names.ts";
import { createRoll, type Roll } from "../../fixtures/content-files.ts";
import { writeMessage } from "../mail/kit/write-message.ts";
import { type Account, type Holdings, leaveOut, type Outcome, pick, type Write } from "./check-write.ts";

/** Other folders than INBOX; those of a Maildir are on the disk in either spelling. */
const FOLDERS = ["INBOX", "Sent", "Archive", "Trash", "Drafts", "Work/2026", "Büro", "A & B"] as [string, ...string[]];
/** Seen, flagged, answered, and a keyword of another program. */
const FLAGS: Readonly<Record<string, string>> = { F: "\\Flagged", R: "\\Answered", S: "\\Seen", a: "$Work" };

/** A message of an account is at `FOLDER:NUMBER`, and is its flags in a line, and its bytes. */
function rollMessages(roll: Roll): Map<string, string> {
  const all = Array.from({ length: 2 + roll(6) }, (_, number): [string, string] => {
    const flags = Object.keys(FLAGS)
      .filter(() => roll(3) === 0)
      .join("");
    const text = pick(roll, ["Hello.", "From here\r\n.\r\n\r\n", "Grüße", "a\tb  \r\n> c"]);
    const attachments =
      roll(4) === 0 ? [{ name: "a.bin", mimetype: "image/png", bytes: Buffer.from([0, roll(256)]) }] : [];
    const headers = { "Message-ID": `<${number}@test>`, "X-Odd": "a\r\n\tb  c", "x-lower": "1" };
    const message = writeMessage({ subject: `Subject ${number}`, text, headers, attachments });
    return [`${pick(roll, FOLDERS)}:${number}`, `${flags}\n${Buffer.from(message).toString("latin1")}`];
  });
  return new Map(all);
}

const folderOf = (address: string) => address.slice(0, address.lastIndexOf(":"));
const numberOf = (address: string) => address.slice(address.lastIndexOf(":") + 1);
const flagged = (thing = "", change: (flags: string) => string) => {
  const end = thing.indexOf("\n");
  return `${[...new Set(change(thing.slice(0, end)))].sort().join("")}${thing.slice(end)}`;
};

interface Change {
  readonly id: string;
  readonly args: Record<string, unknown>;
  /** The address and the content of a message that it names. */
  readonly moved: (address: string, thing: string | undefined) => readonly [string, string | undefined];
}

function createChange(title: string, { id, args, moved }: Change): Write {
  return {
    title,
    roll(roll) {
      const things = rollMessages(roll);
      const [first = "", ...others] = [...things.keys()];
      const named = [first, ...others.filter(() => roll(4) === 0)];
      return {
        things,
        async call(run) {
          const found = new Map<string, string>();
          for (const folder of new Set(named.map(folderOf)))
            for (const one of (await run("search", { folder, limit: 50 })).messages)
              found.set(one.subject, one.message_id);
          const subjects = named.map((address) => `Subject ${numberOf(address)}`);
          const message_ids = subjects.map((subject) => found.get(subject));
          return run(id, { message_ids, ...(id !== "mark_message" && { subjects }), ...args });
        },
        check({ after }) {
          const next = named.map((address) => moved(address, things.get(address)));
          const isNamed = (address: string) => named.includes(address) || next.some(([one]) => one === address);
          expect(leaveOut(after, isNamed)).toEqual(leaveOut(things, isNamed));
          expect(next.map(([address]) => [address, after.get(address)])).toEqual(next);
          expect(after.size).toBe(things.size);
        },
      };
    },
  };
}

function createNew(id: "save_draft" | "send_message", folder: string): Write {
  return {
    title: id,
    roll(roll) {
      const things = rollMessages(roll);
      const [first = ""] = things.keys();
      return {
        things,
        async call(run) {
          const { messages } = await run("search", {
            folder: folderOf(first),
            query: `subject:"Subject ${numberOf(first)}"`,
          });
          const reply_to_message_id = roll(2) === 0 ? messages[0]?.message_id : undefined;
          return run(id, { to: ["carl@example.org"], subject: "New", body: "Grüße", reply_to_message_id });
        },
        check({ after }: Outcome) {
          const isNew = (address: string) => !things.has(address);
          expect(leaveOut(after, isNew)).toEqual(leaveOut(things, isNew));
          expect([...after.keys()].filter(isNew).map(folderOf)).toEqual([folder]);
        },
      };
    },
  };
}

const marks: Readonly<Record<string, (flags: string) => string>> = {
  read: (flags) => `${flags}S`,
  unread: (flags) => flags.replace("S", ""),
  flagged: (flags) => `${flags}F`,
  unflagged: (flags) => flags.replace("F", ""),
};

/** Every way to write into a mailbox. */
export const MAIL_WRITES: readonly Write[] = [
  ...Object.entries(marks).map(([as, change]) =>
    createChange(`mark_message as ${as}`, {
      id: "mark_message",
      args: { as },
      moved: (address, thing) => [address, flagged(thing, change)],
    }),
  ),
  ...["Archive", "Büro", "New/Folder"].map((folder) =>
    createChange(`move_message to ${folder}`, {
      id: "move_message",
      args: { folder, create_folder: true },
      moved: (address, thing) => [`${folder}:${numberOf(address)}`, thing],
    }),
  ),
  createChange("delete_message", {
    id: "delete_message",
    args: {},
    moved: (address, thing) => [`Trash:${numberOf(address)}`, thing],
  }),
  createNew("save_draft", "Drafts"),
  createNew("send_message", "Sent"),
];

const numberIn = (bytes: string) => /^Message-ID: <([^@>]+)/im.exec(bytes)?.[1] ?? "?";
/** What other programs keep beside the messages. */
const OTHERS: Holdings = new Map([
  ["subscriptions", "Archive\n"],
  ["dovecot-uidlist", "3 V1 N4\n1 :a\n"],
  [".Archive/maildirfolder", ""],
  ["tmp/1700000000.M1P1.host", "unfinis"],
]);

/** A Maildir as several programs leave it. */
export function openMaildirAccount(root: string): Account {
  let files = new Map<string, string>();
  const read = () => {
    const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const paths = entries.map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1));
    return new Map(paths.map((path) => [path, readFileSync(join(root, path), "latin1")]));
  };
  return {
    settings: { maildir: root, address: "ana@example.org" },
    async fill(things) {
      for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true });
      files = new Map(OTHERS);
      const roll = createRoll(things.size);
      for (const [address, thing] of things) {
        const end = thing.indexOf("\n");
        const flags = thing.slice(0, end);
        const id = `17000000${numberOf(address).padStart(2, "0")}.M1P1.host${pick(roll, ["", ",S=12", ",S=1,W=2"])}`;
        const box = flags === "" && roll(2) === 0 ? `new/${id}` : `cur/${id}${pick(roll, [":", ":", ";"])}2,${flags}`;
        const [folder] = toFolderParts(folderOf(address), "folder");
        files.set(`${folder === undefined ? "" : `${folder}/`}${box}`, thing.slice(end + 1));
      }
      for (const [path, bytes] of files) {
        mkdirSync(join(root, dirname(path)), { recursive: true });
        writeFileSync(join(root, path), bytes, "latin1");
      }
    },
    async look() {
      const found = read();
      const others = [...OTHERS.keys()].filter((path) => found.get(path) !== OTHERS.get(path));
      expect(others, "files of other programs").toEqual([]);
      return new Map(
        [...found].flatMap(([path, bytes]): [string, string][] => {
          if (OTHERS.has(path)) return [];
          const [box = "", ...above] = path.split("/").slice(0, -1).reverse();
          const name = path.split("/").at(-1) ?? "";
          const folder = above[0] === undefined ? "INBOX" : (fromDiskName(above[0]) ?? above[0]);
          const flags = /[:;]2,(.*)$/.exec(name)?.[1] ?? "";
          const where = box === "cur" || box === "new" ? folder : path;
          return [[`${where}:${numberIn(bytes)}`, `${flags}\n${bytes}`]];
        }),
      );
    },
  };
}

/** The mailbox of `ana` on a server, filled and looked into over `client`. */
export function openImapAccount(client: ImapFlow, settings: Record<string, unknown>): Account {
  const list = async () => (await client.list()).filter(({ flags }) => !flags.has("\\Noselect"));
  const inFolder = async <T>(path: string, work: () => Promise<T>): Promise<T> => {
    const lock = await client.getMailboxLock(path);
    return work().finally(() => lock.release());
  };
  return {
    settings,
    async fill(things) {
      for (const { path } of await list()) await inFolder(path, () => client.messageDelete("1:*"));
      const known = new Set((await list()).map(({ path }) => path));
      for (const [address, thing] of things) {
        const path = folderOf(address);
        if (!known.has(path)) await client.mailboxCreate(path);
        known.add(path);
        const end = thing.indexOf("\n");
        const flags = [...thing.slice(0, end)].map((letter) => FLAGS[letter] ?? letter);
        await client.append(path, Buffer.from(thing.slice(end + 1), "latin1"), flags);
      }
    },
    async look() {
      const found = new Map<string, string>();
      const letters = new Map(Object.entries(FLAGS).map(([letter, flag]) => [flag, letter]));
      for (const { path } of await list())
        await inFolder(path, async () => {
          if (client.mailbox === false || client.mailbox.exists === 0) return;
          for (const { source, flags = new Set<string>() } of await client.fetchAll("1:*", {
            source: true,
            flags: true,
          })) {
            const bytes = source?.toString("latin1") ?? "";
            const own = [...flags].flatMap((flag) => letters.get(flag) ?? []).sort();
            found.set(`${path}:${numberIn(bytes)}`, `${own.join("")}\n${bytes}`);
          }
        });
      return found;
    },
  };
}
