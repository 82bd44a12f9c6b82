import { afterAll, beforeAll, expect, test } from "vitest";
import { createAccount } from "../../../apps/mail/kit/mail-accounts.ts";
import { startDovecot, type TestDovecot } from "../../../apps/mail/kit/start-dovecot.ts";
import { startSmtp, type TestSmtp } from "../../../apps/mail/kit/start-smtp.ts";
import { openTriggerLab, type TriggerLab } from "../trigger-lab.ts";

const MINUTE = 60_000;

let dovecot: TestDovecot;
let smtp: TestSmtp;
let lab: TriggerLab;
beforeAll(async () => {
  dovecot = await startDovecot();
  smtp = await startSmtp(dovecot);
  lab = await openTriggerLab();
});
afterAll(async () => {
  await lab?.close();
  await smtp?.close();
  await dovecot?.close();
});

/** Arrives now, by the clock of the lab. */
async function receive(subject: string): Promise<void> {
  const headers = ["From: bob@example.org", "To: ana@example.org", `Subject: ${subject}`, `Message-ID: <${subject}@x>`];
  const message = `${[...headers, `Date: ${new Date(lab.time).toUTCString()}`].join("\r\n")}\r\n\r\nHello\r\n`;
  await dovecot.deliver("ana", message, { folder: "Work", at: new Date(lab.time) });
}

test("mail on a server is new once, also when its folder is made anew with another UIDVALIDITY", async () => {
  await dovecot.asClient("ana", (client) => client.mailboxCreate("Work"));
  await receive("before");
  const settings = createAccount("ana", { dovecot, smtp });
  const { id: account } = await lab.service.connections.add({ integration: "mail", label: "ana", settings });
  const id = await lab.make({ kind: "mail", query: "in:Work is:any", account });
  const subjects = () => lab.listValues(id, "subject");
  lab.time += MINUTE;
  await receive("first");
  await lab.pass(MINUTE);
  await lab.pass(MINUTE);
  expect(await subjects()).toEqual(["first"]);

  const validity = await dovecot.asClient("ana", async (client) => {
    const read = async (path: string) =>
      ((await client.status(path, { uidValidity: true })) as { uidValidity: bigint }).uidValidity;
    const old = await read("Work");
    await client.mailboxRename("Work", "Old");
    await client.mailboxCreate("Work");
    await client.mailboxOpen("Old");
    await client.messageCopy("1:*", "Work");
    return [old, await read("Work")];
  });
  expect(new Set(validity).size).toBe(2);
  await receive("second");
  await lab.pass(MINUTE);
  await lab.pass(MINUTE);
  expect(await subjects()).toEqual(["first", "second"]);
  expect((await lab.service.triggers.read(id)).row).toMatchObject({ failures: 0, error: null });
});
