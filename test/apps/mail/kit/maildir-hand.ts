import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Snapshots } from "./check-undo.ts";
import type { SomebodyElse } from "./somebody-else.ts";
import { writeMessage } from "./write-message.ts";

/** Another mail program at a mailbox that is a folder. */
export function createMaildirHand(
  maildir: string,
): SomebodyElse & Snapshots & { find(subject: string): Promise<string> } {
  let count = 0;
  const folderPath = (folder: string) => (folder === "INBOX" ? maildir : join(maildir, `.${folder}`));
  /** Files of messages, below the mailbox. */
  const listFiles = async () => {
    const paths = await readdir(maildir, { recursive: true });
    return paths.map((path) => path.replaceAll("\\", "/")).filter((path) => /(^|\/)(cur|new)\/[^/]+$/.test(path));
  };
  const readSubject = async (path: string) =>
    /^Subject: (.*?)\r?$/m.exec(await readFile(join(maildir, path), "utf8"))?.[1] ?? "";
  const find = async (subject: string) => {
    for (const path of await listFiles()) if ((await readSubject(path)) === subject) return path;
    throw new Error(`There is no message "${subject}".`);
  };
  return {
    find,
    async snapshot() {
      const seen = new Map<string, string>();
      for (const path of await listFiles()) {
        const bytes = await readFile(join(maildir, path));
        const [, folder = "", id = ""] = /^(.*?)\/?(?:cur|new)\/([^:]*)/.exec(path) ?? [];
        const hash = createHash("sha256").update(bytes).digest("hex");
        seen.set(await readSubject(path), `${folder} ${id} ${[...readMarks(path)].sort().join("")} ${hash}`);
      }
      return seen;
    },
    async list() {
      const listed = await Promise.all(
        (await listFiles()).map(
          async (path) => `${path.replace(/\/?(cur|new)\/.*$/, "")} ${await readSubject(path)} ${readMarks(path)}`,
        ),
      );
      return listed.sort();
    },
    async arrive(subject, marks) {
      count += 1;
      const name = marks === "" ? `new/17000000${count}.M0P1Q1.other` : `cur/17000000${count}.M0P1Q1.other:2,${marks}`;
      await writeFile(
        join(maildir, name),
        writeMessage({ subject, headers: { "Message-ID": `<${count}@x.example>` } }),
      );
    },
    async toggle(subject, mark) {
      const path = await find(subject);
      await rename(join(maildir, path), join(maildir, toggleMark(path, mark)));
    },
    async move(subject, folder) {
      const path = await find(subject);
      await mkdir(join(folderPath(folder), "cur"), { recursive: true });
      const name = path.split("/").at(-1) ?? "";
      await rename(join(maildir, path), join(folderPath(folder), "cur", name.includes(":2,") ? name : `${name}:2,`));
    },
    erase: async (subject) => rm(join(maildir, await find(subject))),
    async make(folder) {
      for (const name of ["cur", "new", "tmp"]) await mkdir(join(folderPath(folder), name), { recursive: true });
    },
    async empty() {
      for (const name of await readdir(maildir)) await rm(join(maildir, name), { recursive: true });
      for (const name of ["cur", "new", "tmp"]) await mkdir(join(maildir, name));
    },
  };
}

function readMarks(path: string): string {
  return path.split(":2,")[1] ?? "";
}

/** Where a message lies, in the box `cur`, once it has a mark more or less. */
export function toggleMark(path: string, mark: string): string {
  const marks = readMarks(path);
  const toggled = marks.includes(mark) ? marks.replace(mark, "") : [...marks, mark].sort().join("");
  const [base = ""] = path.split(":2,");
  return `${base.replace(/(^|\/)new\/([^/]+)$/, "$1cur/$2")}:2,${toggled}`;
}
