import { randomBytes } from "node:crypto";
import type { Connections } from "../../../../src/service/connections/connection.ts";
import { attach } from "../../../service/files/envelope.ts";
import { execute } from "../../../service/http-calls.ts";
import { PASSWORDS, type TestDovecot, type TestUser } from "./start-dovecot.ts";
import { ADDRESSES, type TestSmtp } from "./start-smtp.ts";

/** Settings of an account on the test servers. */
export function createAccount(user: TestUser, { dovecot, smtp }: { dovecot: TestDovecot; smtp: TestSmtp }) {
  return {
    address: ADDRESSES[user],
    imapHost: `127.0.0.1:${dovecot.tlsPort}`,
    imapSecurity: "tls",
    smtpHost: `127.0.0.1:${smtp.port}`,
    smtpSecurity: "tls",
    user,
    password: PASSWORDS[user],
    ca: dovecot.ca,
  };
}

/** Connects both users' accounts; Ana's becomes the default. */
export async function connectAccounts(
  connections: Connections,
  servers: { dovecot: TestDovecot; smtp: TestSmtp },
): Promise<Readonly<Record<TestUser, string>>> {
  const connect = async (user: TestUser) => {
    const settings = createAccount(user, servers);
    return (await connections.add({ integration: "mail", label: user, settings, isDefault: user === "ana" })).id;
  };
  return { ana: await connect("ana"), bob: await connect("bob") };
}

/** Bob sends Ana messages, each with a file, through the service; the last one is the newest. */
export async function sendToAna(
  service: { url: string; apiKey: string },
  { bob }: { readonly bob: string },
  subjects: readonly string[],
): Promise<Buffer[]> {
  const files: Buffer[] = [];
  for (const [index, subject] of subjects.entries()) {
    const bytes = randomBytes(40_000 + index);
    const file = { name: `plan-${index}.bin`, mimetype: "application/octet-stream" };
    const pointer = `file-${index}`;
    const reply = await execute(service, "mail_send_message", {
      confirmed: true,
      connectionId: bob,
      arguments: {
        to: [ADDRESSES.ana],
        subject,
        body: `This is about ${subject}.`,
        attachments: [{ ...file, s3key: pointer }],
      },
      files: [attach(pointer, bytes, file)],
    });
    if (reply.status !== 200) throw new Error(reply.text);
    files.push(bytes);
  }
  return files;
}
