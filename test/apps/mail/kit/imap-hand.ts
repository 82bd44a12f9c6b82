import { createHash } from "node:crypto";
import type { ImapFlow } from "imapflow";
import type { Snapshots } from "./check-undo.ts";
import type { SomebodyElse } from "./somebody-else.ts";
import type { TestDovecot, TestUser } from "./start-dovecot.ts";
import { writeMessage } from "./write-message.ts";

const FLAGS: Readonly<Record<string, string>> = { R: "\\Answered", S: "\\Seen", F: "\\Flagged" };

/** Another mail program at a mailbox on a server. */
export function createImapHand(dovecot: TestDovecot, user: TestUser): SomebodyElse & Snapshots {
  let count = 0;
  /** Does something with the message of a subject, whose folder is selected. */
  const withMessage = (
    subject: string,
    work: (client: ImapFlow, found: { uid: string; marks: string }) => Promise<unknown>,
  ) =>
    dovecot.asClient(user, async (client) => {
      for (const one of await listAll(client)) {
        if (one.subject !== subject) continue;
        const lock = await client.getMailboxLock(one.path);
        await work(client, one);
        return lock.release();
      }
      throw new Error(`There is no message "${subject}".`);
    });
  return {
    snapshot: () => dovecot.asClient(user, takeSnapshot),
    list: () =>
      dovecot.asClient(user, async (client) => {
        const listed = await listAll(client);
        return listed.map(({ path, subject, marks }) => `${path} ${subject} ${marks}`).sort();
      }),
    arrive: (subject, marks) => {
      count += 1;
      const bytes = writeMessage({ subject, headers: { "Message-ID": `<${count}@x.example>` } });
      return dovecot.deliver(user, bytes, { flags: [...marks].map((mark) => FLAGS[mark] ?? "") });
    },
    toggle: (subject, mark) =>
      withMessage(subject, async (client, { uid, marks }) => {
        const change = marks.includes(mark) ? "messageFlagsRemove" : "messageFlagsAdd";
        await client[change](uid, [FLAGS[mark] ?? ""], { uid: true });
      }),
    move: (subject, folder) =>
      withMessage(subject, async (client, { uid }) => {
        await client.mailboxCreate(folder).catch(() => undefined);
        await client.messageMove(uid, folder, { uid: true });
      }),
    erase: (subject) => withMessage(subject, (client, { uid }) => client.messageDelete(uid, { uid: true })),
    make: (folder) => dovecot.asClient(user, async (client) => void (await client.mailboxCreate(folder))),
    empty: () => dovecot.empty(user),
  };
}

async function takeSnapshot(client: ImapFlow): Promise<Map<string, string>> {
  const seen = new Map<string, string>();
  for (const { path } of await client.list()) {
    const lock = await client.getMailboxLock(path);
    const isEmpty = client.mailbox === false || client.mailbox.exists === 0;
    const fields = { envelope: true, flags: true, internalDate: true, source: true };
    for (const one of isEmpty ? [] : await client.fetchAll("1:*", fields)) {
      const { envelope, flags = new Set(), internalDate = 0, source = Buffer.alloc(0) } = one;
      const hash = createHash("sha256").update(source).digest("hex");
      const marks = [...flags].filter((flag) => flag !== "\\Recent").sort();
      seen.set(envelope?.subject ?? "", `${path} ${marks.join(" ")} ${new Date(internalDate).toISOString()} ${hash}`);
    }
    lock.release();
  }
  return seen;
}

async function listAll(client: ImapFlow): Promise<{ path: string; uid: string; subject: string; marks: string }[]> {
  const listed = [];
  for (const { path } of await client.list()) {
    const lock = await client.getMailboxLock(path);
    const isEmpty = client.mailbox === false || client.mailbox.exists === 0;
    const found = isEmpty ? [] : await client.fetchAll("1:*", { uid: true, envelope: true, flags: true });
    for (const { uid, envelope, flags = new Set() } of found) {
      const marks = Object.entries(FLAGS).flatMap(([mark, flag]) => (flags.has(flag) ? [mark] : []));
      listed.push({ path, uid: String(uid), subject: envelope?.subject ?? "", marks: marks.sort().join("") });
    }
    lock.release();
  }
  return listed;
}
