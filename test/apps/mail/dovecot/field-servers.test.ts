import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createMailIntegration } from "../../../../src/apps/mail/mail-integration.ts";
import { createRunner } from "../../run-action.ts";
import { PASSWORDS, startDovecot, type TestDovecot } from "../kit/start-dovecot.ts";
import { ADDRESSES, startSmtp, type TestSmtp } from "../kit/start-smtp.ts";

let dovecot: TestDovecot;
let smtp: TestSmtp;
const integrations: ReturnType<typeof createMailIntegration>[] = [];

beforeAll(async () => {
  dovecot = await startDovecot();
  smtp = await startSmtp(dovecot);
});
afterAll(async () => {
  await Promise.all(integrations.map((one) => one.close?.()));
  await smtp?.close();
  await dovecot?.close();
});
afterEach(() => dovecot.empty("ana"));

/** Ana's mailbox, in which waiting is what `sleep` does. */
function connect(sleep: (ms: number) => Promise<void> = async () => {}) {
  const integration = createMailIntegration({ sleep });
  integrations.push(integration);
  return createRunner(integration, {
    now: Date.now,
    settings: {
      address: ADDRESSES.ana,
      imapHost: `127.0.0.1:${dovecot.tlsPort}`,
      imapSecurity: "tls",
      smtpHost: `127.0.0.1:${smtp.port}`,
      smtpSecurity: "tls",
      user: "ana",
      password: PASSWORDS.ana,
      ca: dovecot.ca,
    },
  });
}
const letter = { to: [ADDRESSES.bob], subject: "Figures", body: "Hello" };

describe("a copy of a sent message", () => {
  it.each([1000, 2000, 3500])("is not filed where the server files it itself after %i ms", async (delay) => {
    let isFiled = false;
    let waited = 0;
    const wait = async (ms: number) => {
      waited += ms;
      if (isFiled || waited < delay) return;
      isFiled = true;
      await dovecot.deliver("ana", smtp.taken.at(-1)?.source ?? "", { folder: "Sent", flags: ["\\Seen"] });
    };
    const ana = connect(wait);
    const sent = await ana("send_message", letter);
    await wait(delay);
    expect(await dovecot.list("ana", "Sent")).toHaveLength(1);
    expect(await ana("read_message", { message_id: sent.message_id })).toMatchObject({
      folder: "Sent",
      subject: "Figures",
    });
  });

  it("is filed where the server does not, without waiting again for the next one", async () => {
    const waits: number[] = [];
    const ana = connect(async (ms) => void waits.push(ms));
    await ana("send_message", letter);
    const first = waits.length;
    await ana("send_message", letter);
    expect([first > 0, waits.length === first]).toEqual([true, true]);
    expect(await dovecot.list("ana", "Sent")).toHaveLength(2);
  });
});

const part = (type: string, body: string, ...headers: string[]) => [
  "--b",
  `Content-Type: ${type}`,
  ...headers,
  "",
  body,
];
const multipart = (kind: string, ...parts: string[][]) =>
  [
    "From: Bob <bob@example.org>",
    "Subject: Here",
    `Content-Type: multipart/${kind}; boundary=b`,
    "",
    ...parts.flat(),
    "--b--",
    "",
  ].join("\r\n");

describe("a search", () => {
  it("takes the pictures of a text for no attachments", async () => {
    const inline = ["Content-ID: <logo@x>", "Content-Disposition: inline; filename=a.png"];
    const html = part("text/html", '<p>Hi<img src="cid:logo@x"></p>');
    await dovecot.deliver("ana", multipart("related", html, part("image/png; name=a.png", "x", ...inline)));
    const ana = connect();
    expect((await ana("search", { query: "is:any has:attachment" })).messages).toEqual([]);
    expect((await ana("search", { query: "is:any -has:attachment" })).messages).toHaveLength(1);
    const attached = ["Content-ID: <logo@x>", "Content-Disposition: attachment; filename=a.png"];
    await dovecot.deliver("ana", multipart("related", html, part("image/png; name=a.png", "x", ...attached)));
    expect((await ana("search", { query: "is:any has:attachment" })).messages).toHaveLength(1);
  });

  it("says where the text lies behind what it looks at", async () => {
    const picture = Buffer.alloc(300_000, "png").toString("base64").replaceAll(/.{76}/g, "$&\r\n");
    const image = part("image/png; name=a.png", picture, "Content-Transfer-Encoding: base64");
    await dovecot.deliver("ana", multipart("mixed", image, part("text/plain", "The end")));
    const answer = await connect()("search", { query: "end" });
    expect(answer.messages).toMatchObject([{ subject: "Here", attachments: ["a.png"] }]);
    const { message_id: where } = answer.messages[0];
    expect(answer.not_shown).toEqual([{ where, why: expect.stringContaining("behind") }]);
  });
});
