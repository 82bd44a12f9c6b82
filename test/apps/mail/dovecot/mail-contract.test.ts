import { startTestService } from "../../../../src/testing.ts";
import { type ContractSubject, describeIntegrationContract } from "../../contract/describe-integration-contract.ts";
import type { ProviderFault } from "../../contract/provider-faults.ts";
import { openProxy, type TestProxy } from "../kit/open-proxy.ts";
import { startDovecot, type TestDovecot } from "../kit/start-dovecot.ts";
import { ADDRESSES, startSmtp, type TestSmtp } from "../kit/start-smtp.ts";
import { writeMessage } from "../kit/write-message.ts";

/** What an IMAP server says to SEARCH and APPEND. It never says how long to wait, and a refusal says that nothing was done. */
const IMAP_ANSWERS: Partial<Record<ProviderFault, string>> = {
  "forbids it": "NO [NOPERM] Not for you.",
  "does not know it": "NO [NONEXISTENT] No such mailbox.",
  "has a conflict": "NO [ALREADYEXISTS] Is there.",
  "refuses the arguments": "NO [CANNOT] Not like this.",
  "is overloaded": "NO [UNAVAILABLE] Later.",
  "answers garbage": "HELLO",
};

describeIntegrationContract("mail over IMAP", () => setUp({ action: "save_draft", isSent: false }), {
  faults: [
    "refuses the credentials",
    "forbids it",
    "does not know it",
    "has a conflict",
    "refuses the arguments",
    "is overloaded",
    "answers garbage",
    "breaks the connection",
    "never answers",
    "is down",
  ],
});
describeIntegrationContract("mail over SMTP", () => setUp({ action: "send_message", isSent: true }), {
  faults: [
    "refuses the credentials",
    "is overloaded",
    "answers garbage",
    "breaks the connection",
    "never answers",
    "is down",
  ],
  sides: ["write"],
});

async function setUp(o: { readonly action: string; readonly isSent: boolean }): Promise<ContractSubject> {
  const dovecot = await startDovecot();
  const smtp = await startSmtp(dovecot);
  // Reading goes through a cable that can be watched, and so without TLS; sending through one that can only be closed.
  const [imapLine, smtpLine] = [await openProxy(dovecot.port), await openProxy(smtp.port)];
  dovecot.tokens.set("fresh", "ana");
  await dovecot.deliver("ana", writeMessage({ subject: "one" }));
  const service = await startTestService({ providerTimeoutMs: 5_000 });
  const { connections } = service.service;
  for (const { id } of await connections.list("mail")) await connections.remove(id);
  const settings = {
    address: ADDRESSES.ana,
    imapHost: `127.0.0.1:${imapLine.port}`,
    imapSecurity: "plain",
    smtpHost: `127.0.0.1:${smtpLine.port}`,
    smtpSecurity: "tls",
    user: "ana",
    signIn: "token",
    password: "fresh",
    ca: dovecot.ca,
  };
  await connections.add({ integration: "mail", label: "Ana", settings });
  const parts = { dovecot, smtp, imapLine, smtpLine };
  return {
    service,
    slug: "mail",
    read: { action: "search", args: {} },
    write: { action: o.action, args: { to: [ADDRESSES.bob], subject: "S", body: "B" } },
    countEffects: async () => (o.isSent ? smtp.taken.length : (await dovecot.list("ana", "Drafts")).length),
    badSettings: { address: "nobody" },
    meet: async (fault) => (o.isSent ? meetSmtp(fault, parts) : meetImap(fault, parts)),
    async recover() {
      dovecot.tokens.set("fresh", "ana");
      smtp.faults = {};
      for (const line of [imapLine, smtpLine]) Object.assign(line, { isShut: false, rule: () => undefined });
      imapLine.cut();
      await imapLine.whenEmpty();
    },
    async close() {
      await service.close();
      for (const line of [imapLine, smtpLine]) await line.close();
      await smtp.close();
      await dovecot.close();
    },
  };
}

interface Parts {
  readonly dovecot: TestDovecot;
  readonly smtp: TestSmtp;
  readonly imapLine: TestProxy;
  readonly smtpLine: TestProxy;
}

function meetImap(fault: ProviderFault, { dovecot, imapLine }: Parts): void {
  if (fault === "refuses the credentials" || fault === "is down") {
    if (fault === "is down") imapLine.isShut = true;
    else dovecot.tokens.delete("fresh");
    imapLine.cut();
    return;
  }
  imapLine.rule = (text) => {
    const [, tag] = /^(\S+) (?:UID SEARCH|SEARCH|APPEND) /m.exec(text) ?? [];
    if (tag === undefined) return undefined;
    if (fault === "never answers") return "hold";
    const answer = IMAP_ANSWERS[fault];
    return answer === undefined ? "cut" : { answer: `${tag} ${answer}\r\n` };
  };
}

function meetSmtp(fault: ProviderFault, { dovecot, smtp, smtpLine }: Parts): void {
  // Who is signed in for reading stays so.
  if (fault === "refuses the credentials") dovecot.tokens.delete("fresh");
  if (fault === "is down") smtpLine.isShut = true;
  if (fault === "is overloaded") smtp.faults = { message: "451 4.3.0 Later." };
  if (fault === "answers garbage") smtp.faults = { babble: true };
  if (fault === "breaks the connection") smtp.faults = { cut: "after" };
  if (fault === "never answers") smtp.faults = { hang: true };
}
