import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { createAccount, sendToAna } from "../../apps/mail/kit/mail-accounts.ts";
import { startDovecot, type TestDovecot } from "../../apps/mail/kit/start-dovecot.ts";
import { startSmtp, type TestSmtp } from "../../apps/mail/kit/start-smtp.ts";
import { execute } from "../../service/http-calls.ts";
import { installPacked } from "../install-packed.ts";
import { readPackage } from "../read-package.ts";

/** A mailbox on real servers, reached by the installed package alone: what it needs for that is part of its files. */

const startedSchema = z.object({
  url: z.string(),
  apiKey: z.string(),
  ids: z.object({ ana: z.string(), bob: z.string() }),
});

let folder: string;
let consumer: string;
let dovecot: TestDovecot;
let smtp: TestSmtp;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-packed-mail-"));
  ({ consumer } = await installPacked(folder));
  dovecot = await startDovecot();
  smtp = await startSmtp(dovecot);
}, 240_000);

afterAll(async () => {
  await smtp?.close();
  await dovecot?.close();
  await rm(folder, { recursive: true, force: true });
});

test("mail is sent, found and read, with its file", async () => {
  const accounts = { ana: createAccount("ana", { dovecot, smtp }), bob: createAccount("bob", { dovecot, smtp }) };
  await writeFile(
    join(consumer, "serve.mjs"),
    `import { startTestService } from "${readPackage().name}/testing";
     const service = await startTestService();
     const ids = {};
     for (const [label, settings] of Object.entries(${JSON.stringify(accounts)})) {
       ids[label] = (await service.service.connections.add({ integration: "mail", label, settings })).id;
     }
     console.log(JSON.stringify({ url: service.url, apiKey: service.apiKey, ids }));
     process.once("SIGTERM", () => service.close());\n`,
  );
  const child = spawn(process.execPath, ["serve.mjs"], { cwd: consumer, stdio: ["ignore", "pipe", "inherit"] });
  try {
    const [line] = await once(createInterface({ input: child.stdout }), "line");
    const { ids, ...service } = startedSchema.parse(JSON.parse(line));
    await sendToAna(service, ids, ["the harbour"]);
    const ana = { connectionId: ids.ana };
    const found = await execute(service, "mail_search", { ...ana, arguments: { query: "harbour" } });
    expect(found.status, found.text).toBe(200);
    expect(found.text).toContain("plan-0.bin");
    const [, id] = /"message_id":"([^"]+)"/.exec(found.text) ?? [];
    const read = await execute(service, "mail_read_message", { ...ana, arguments: { message_id: id } });
    expect(read.status, read.text).toBe(200);
    expect(read.text).toContain("This is about the harbour.");
  } finally {
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
  }
}, 60_000);
