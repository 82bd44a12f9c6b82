import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Puts unread messages into the mailbox of a data folder, the first one newest. */
export async function deliverMail(
  dataDir: string,
  messages: readonly { from: string; subject: string; text: string }[],
): Promise<void> {
  const folder = join(dataDir, "mail", "new");
  await mkdir(folder, { recursive: true });
  const at = Date.parse("2026-11-20T09:00:00Z") / 1000;
  for (const [index, { from, subject, text }] of messages.entries()) {
    const lines = [`From: ${from}`, "To: me@localhost", `Subject: ${subject}`, "Date: Fri, 20 Nov 2026 09:00:00 +0000"];
    await writeFile(join(folder, `${at - index}.M1P1Q${index}.host`), `${lines.join("\r\n")}\r\n\r\n${text}\r\n`);
  }
}
