import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { connectAccounts, sendToAna } from "../../../apps/mail/kit/mail-accounts.ts";
import { startDovecot, type TestDovecot } from "../../../apps/mail/kit/start-dovecot.ts";
import { startSmtp, type TestSmtp } from "../../../apps/mail/kit/start-smtp.ts";
import { closeAll } from "../../../plugin/calls/open-test-session.ts";
import { execute } from "../../../service/http-calls.ts";
import type { CardCall } from "../inbox/first-screen/card-call.ts";
import { lookInTerminal, lookOnPage } from "../inbox/first-screen/look-at-calls.ts";
import { useDesk } from "../sign-in/desk.ts";

/** Whoever sees only the first screen of a message that really goes out can say what it is, who gets it, and that it is final. */

const desk = useDesk();
let dovecot: TestDovecot;
let smtp: TestSmtp;

beforeAll(async () => {
  dovecot = await startDovecot();
  smtp = await startSmtp(dovecot);
});
afterEach(closeAll);
afterAll(async () => {
  await smtp?.close();
  await dovecot?.close();
});

async function open(approvals: "device" | "owner"): Promise<TestService> {
  const service = desk.keep(await startTestService({ approvals }));
  await connectAccounts(service.service.connections, { dovecot, smtp });
  return service;
}

/** Bob has written once; nobody knows Eve. */
async function listCalls(): Promise<readonly CardCall[]> {
  const service = await open("device");
  const bob = (await service.service.connections.list("mail")).find(({ label }) => label === "bob");
  await sendToAna(service, { bob: bob?.id ?? "" }, ["Heating inspection on Tuesday"]);
  const { json } = await execute(service, "mail_search", { arguments: { query: "Heating" } });
  const id: string = json.data.messages[0].message_id;
  return [
    {
      name: "sent-reply",
      tool: "mail_send_message",
      args: {
        to: ["bob@example.org"],
        subject: "Re: Heating inspection on Tuesday",
        body: "Dear Bob,\nTuesday at ten suits us. The key is with the neighbours.\n\nPlease ring twice.\n\nAna",
        reply_to_message_id: id,
      },
      object: ["Heating inspection on Tuesday", "Answers", "bob@example.org", "ana@example.org"],
      change: ["Send", "bob@example.org", "Tuesday at ten suits us."],
      consequence: ["1 address outside this mailbox", "it cannot be taken back", "Undo", "not by the service"],
    },
    {
      name: "sent-hidden-copy",
      tool: "mail_send_message",
      args: {
        to: ["bob@example.org"],
        bcc: ["eve@elsewhere.example"],
        subject: "Our quote",
        body: "Here is the quote.",
      },
      file: { field: "attachments", name: "quote.txt", text: "24 square metres, oak" },
      object: ["Our quote", "bob@example.org"],
      change: ["Send", "Hidden copy", "eve@elsewhere.example", "Here is the quote.", "quote.txt"],
      consequence: [
        'New address: "eve@elsewhere.example"',
        "do not see the hidden copy",
        "it cannot be taken back",
        "Undo",
        "not by the service",
      ],
    },
  ];
}

test("in a terminal of 80 by 24, and on a phone of 390 by 844", async () => {
  const calls = await listCalls();
  expect(await lookInTerminal(await open("device"), calls)).toEqual([]);
  const service = await open("owner");
  const page = await desk.openPage(service, { colorScheme: "light", width: 390 });
  expect(await lookOnPage(service, calls, page)).toEqual([]);
});
