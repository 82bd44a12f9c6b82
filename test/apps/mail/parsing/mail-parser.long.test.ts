import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createMailIntegration } from "../../../../src/apps/mail/mail-integration.ts";
import { createMailParser, type MailParser } from "../../../../src/apps/mail/parsing/mail-parser.ts";
import { startTestService } from "../../../../src/testing.ts";
import { call } from "../../../service/http-calls.ts";
import { createRunner, refusal } from "../../run-action.ts";
import { writeEndless, writeMarks } from "../kit/write-endless.ts";

const PLAIN = "From: ann@site.example\nSubject: Hello\n\nGood day";
const signal = new AbortController().signal;
const all = { from: 0, length: 1000 };

let parser: MailParser | undefined;
let folder: string | undefined;
afterEach(async () => {
  await parser?.close();
  if (folder !== undefined) await rm(folder, { recursive: true });
  parser = folder = undefined;
});

/** A mailbox with these messages, the last one the newest. */
async function createMaildir(messages: readonly (string | Buffer)[]): Promise<string> {
  folder = await mkdtemp(join(tmpdir(), "svc-mail-parser-"));
  await mkdir(join(folder, "new"));
  for (const [index, message] of messages.entries())
    await writeFile(join(folder, "new", `17636${index.toString().padStart(5, "0")}.M0P1Q1.other`), message);
  return folder;
}

const idOf = (index: number) => `17636${index.toString().padStart(5, "0")}.M0P1Q1.other`;

let threads = 0;
process.on("worker", (worker) => {
  threads += 1;
  worker.once("exit", () => {
    threads -= 1;
  });
});
/** Worker threads of this process, also those that do not keep it from ending. */
const countThreads = () => threads;

describe("a message that takes for ever", () => {
  it("ends as a failure of its own call, and the next message is read", async () => {
    parser = createMailParser();
    const error = await refusal(parser.parse(writeEndless(), { id: "evil", signal, limitMs: 100 }));
    expect([error.status, error.code, error.message]).toEqual([
      500,
      "provider_error",
      'The message "evil" could not be read within 0.1 seconds.',
    ]);
    const { message } = await parser.parse(Buffer.from(PLAIN), { id: "good", signal, text: all });
    expect([message.subject, message.text.trim()]).toEqual(["Hello", "Good day"]);
  });

  it("does not hold up others, read or searched, and ends with the call", async () => {
    const mail = createMailIntegration();
    const service = await startTestService({ integrations: [mail] });
    try {
      const maildir = await createMaildir([PLAIN, writeEndless(), writeMarks()]);
      const settings = { maildir, address: "me@localhost" };
      await service.service.connections.add({ integration: "mail", label: "Me", settings, isDefault: true });
      const gone = new AbortController();
      const use = (tool: string, args: unknown, o: { signal?: AbortSignal } = {}) =>
        fetch(`${service.url}/api/tools/${tool}/execute`, {
          method: "POST",
          headers: { "x-svc-api-key": service.apiKey, "content-type": "application/json" },
          body: JSON.stringify({ arguments: args }),
          ...o,
        });
      const hostile = [
        use("mail_read_message", { message_id: idOf(1) }, { signal: gone.signal }),
        use("mail_search", { query: "is:any words" }, { signal: gone.signal }),
      ];
      for (const one of hostile) one.catch(() => undefined);
      const plain = await use("mail_read_message", { message_id: idOf(0) });
      expect(await plain.json()).toMatchObject({ ok: true, result: { subject: "Hello" } });
      expect((await call(`${service.url}/api/tools`, { key: service.apiKey })).status).toBe(200);
      gone.abort();
      for (const one of hostile) await expect(one).rejects.toThrow();
    } finally {
      await service.close();
    }
  });

  it("is found by its headers, and hides no other", async () => {
    const endless = Buffer.concat([Buffer.from("Subject: Look\n"), writeEndless()]);
    const maildir = await createMaildir([PLAIN, endless]);
    const mail = createMailIntegration();
    const run = createRunner(mail, { settings: { maildir, address: "me@localhost" } });
    try {
      const { messages, not_shown } = await run("search", {});
      expect(messages.map(({ subject }: { subject: string }) => subject)).toEqual(["Look", "Hello"]);
      const [{ message_id: where }] = messages;
      expect(not_shown).toEqual([{ where, why: expect.stringContaining("only its headers") }]);
    } finally {
      await mail.close?.();
    }
  });
});

it("a message that needs too much memory ends as a failure of its own call", async () => {
  parser = createMailParser({ heapMb: 24 });
  const hungry = Buffer.from(`Content-Type: multipart/mixed; boundary=b\n\n${"--b\n\n".repeat(45_000)}`);
  const error = await refusal(parser.parse(hungry, { id: "big", signal, text: all }));
  expect([error.status, error.message]).toEqual([
    500,
    'The message "big" could not be read: it needs more memory than one message may use.',
  ]);
  const { message } = await parser.parse(Buffer.from(PLAIN), { id: "good", signal });
  expect(message.subject).toBe("Hello");
});

describe("the threads", () => {
  it("are used again, end when nobody uses them, and start again", async () => {
    parser = createMailParser({ idleMs: 1 });
    const before = countThreads();
    for (let round = 0; round < 20; round++) await parser.parse(Buffer.from(PLAIN), { id: "1", signal });
    await expect.poll(countThreads).toBeLessThanOrEqual(before);
    expect((await parser.parse(Buffer.from(PLAIN), { id: "1", signal })).message.subject).toBe("Hello");
  });

  it("are at most four, whatever is asked for at once", async () => {
    parser = createMailParser();
    const before = countThreads();
    const some = Array.from({ length: 12 }, () => parser?.parse(Buffer.from(PLAIN), { id: "1", signal }));
    let most = 0;
    for (const one of some) {
      await one;
      most = Math.max(most, countThreads() - before);
    }
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(4);
    await parser.close();
    expect(countThreads()).toBe(before);
  });

  it("take one large message at a time", async () => {
    parser = createMailParser();
    const before = countThreads();
    const large = () => Buffer.concat([Buffer.from(PLAIN), Buffer.alloc(33 * 1024 * 1024, "a")]);
    await Promise.all([1, 2, 3].map(() => parser?.parse(large(), { id: "1", signal })));
    expect(countThreads() - before).toBe(1);
  });

  it("get bytes without a copy", async () => {
    parser = createMailParser();
    const bytes = Buffer.alloc(100_000, PLAIN);
    await parser.parse(bytes, { id: "1", signal });
    expect(bytes.buffer.byteLength).toBe(0);
  });
});

it("leaves a place to other accounts when one was sent four hostile messages", async () => {
  parser = createMailParser();
  const order: string[] = [];
  const hostile = [1, 2, 3, 4].map(async () => {
    await refusal(
      parser?.parse(writeEndless(), { id: "evil", account: "a", signal, limitMs: 3_000 }) ?? Promise.reject(),
    );
    order.push("hostile");
  });
  const { message } = await parser.parse(Buffer.from(PLAIN), { id: "good", account: "b", signal });
  order.push(message.subject);
  await Promise.all(hostile);
  expect(order).toEqual(["Hello", "hostile", "hostile", "hostile", "hostile"]);
}, 60_000);
