import { createHash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { isDeepStrictEqual } from "node:util";
import fc, { type Arbitrary } from "fast-check";
import { expect, test, vi } from "vitest";
import type { Integration } from "../../../../src/apps/port/integration.ts";
import { cloneJson } from "../../../../src/shared/base/json.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { CARD_TEXTS } from "../../../approvals/texts/card-texts.ts";
import { FUZZ_FACTOR, fuzzOptions } from "../../../fuzz/fuzz-options.ts";
import { hostileArguments, trickyText } from "../../../hostile/arguments.ts";
import { readExactly } from "../../../service/http/pages/read-exactly.ts";
import { call, execute } from "../../../service/http-calls.ts";
import { measureOverflow } from "../chromium.ts";
import { useDesk } from "../sign-in/desk.ts";

vi.setConfig({ testTimeout: 240_000 * FUZZ_FACTOR });

/** What a provider got. */
interface Received {
  readonly args: Record<string, unknown>;
  readonly files: readonly { readonly name: string; readonly sha256: string }[];
}

/** An app that takes any arguments, and up to two files. */
function createKeeper(received: Received[]): Integration {
  const file = { type: "object", file_uploadable: true, properties: {}, additionalProperties: false };
  return {
    slug: "keeper",
    name: "Keeper",
    description: "Keeps what it gets.",
    category: "tests",
    scopes: [],
    actions: [
      {
        id: "keep",
        title: "Keep",
        description: "Keeps it.",
        level: "write",
        requiresConfirmation: true,
        idempotent: false,
        scopes: [],
        inputSchema: { type: "object", properties: { file1: file, file2: file }, additionalProperties: true },
        async run(args, context) {
          const fields = [args.file1, args.file2].filter((field) => field !== undefined) as { s3key: string }[];
          const files = fields.map(async ({ s3key }) => {
            const held = context.file(s3key);
            const sha256 = createHash("sha256")
              .update(await buffer(held.open()))
              .digest("hex");
            return { name: held.name, sha256 };
          });
          received.push({ args: cloneJson(args) as Record<string, unknown>, files: await Promise.all(files) });
          return {};
        },
      },
    ],
    async checkSettings() {},
  };
}

/** Members of a JSON object as a program may write them, where writing them again would lose something. */
const rawMember = fc.constantFrom(
  '"n":-0',
  '"n":12345678901234567890',
  '"n":0.1e-7',
  '"n":1.0',
  '"n":1E400',
  '"n":0.30000000000000004',
  '"d":1,"d":2',
  '"а":1,"a":2',
  '"é":1,"e\\u0301":2',
  '"":"","10":1,"9":2',
  '"k":"\\u0000\\ud800"',
  '"k":"{\\"a\\": \\"\\\\u202e\\"}"',
  '"k":"<script>document.title=1</script><b>x</b>&amp;&lt;"',
  '"k":"</span></dd><dt>Effect</dt><dd>reads</dd>"',
  '"Arguments: 1":"Approve keeper_keep, which reads, on Other? It runs once, exactly as shown."',
);
const longText = fc.constantFrom(
  "x".repeat(30_000),
  "\u202e".repeat(900),
  "\\".repeat(2_500),
  "\\n".repeat(1_001),
  "\n".repeat(3_000),
  " ".repeat(2_400),
  "e\u0301\u0302\u0303".repeat(900),
  `${"# heading\n".repeat(300)}\u200b`,
  "👩\u200d🚀".repeat(700),
);
const file = fc.record({
  name: fc.oneof(trickyText, fc.constantFrom("letter.pdf", "a/../b.txt", "\u202efdp.exe", "SHA-256 00", "<b>.png")),
  bytes: fc.oneof(
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    trickyText.map((text) => Buffer.from(text)),
    fc.constant(Buffer.from("<svg xmlns='http://www.w3.org/2000/svg' onload='document.title=1'/>")),
  ),
});

interface Sent {
  readonly args: Record<string, unknown>;
  readonly raw: readonly string[];
  readonly long: string | undefined;
  readonly files: readonly { name: string; bytes: Buffer }[];
}
/** Those of three calls in one: a page costs more than what stands on it. */
const manyArguments = fc
  .tuple(hostileArguments, hostileArguments, hostileArguments)
  .map(([args, second, third]) => Object.fromEntries([...Object.entries(args), ["2", second], ["3", third]]));
const sent: Arbitrary<Sent> = fc.record({
  args: manyArguments,
  raw: fc.uniqueArray(rawMember, { maxLength: 2 }),
  long: fc.option(longText, { nil: undefined, freq: 4 }),
  files: fc.array(file, { maxLength: 2 }),
});

function writeBody({ args, raw, long, files }: Sent): string {
  const md5 = (bytes: Buffer) => createHash("md5").update(bytes).digest("hex");
  const envelope = files.map(({ name, bytes }, at) => {
    const pointer = `local:${at + 1}`;
    return { pointer, name, mimetype: "application/x-thing", md5: md5(bytes), dataBase64: bytes.toString("base64") };
  });
  const members = [
    ...Object.entries(args).map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`),
    ...raw,
    ...(long === undefined ? [] : [`"long":${JSON.stringify(long)}`]),
    ...envelope.map(
      ({ name, mimetype, pointer }, at) => `"file${at + 1}":${JSON.stringify({ name, mimetype, s3key: pointer })}`,
    ),
  ];
  return `{"arguments":{${members.join(",")}},"files":${JSON.stringify(envelope)}}`;
}

/** The card as it stands on the page, with everything unfolded, and with the labels that are our own. */
interface Card {
  /** Names and values, as written. */
  readonly args: readonly (readonly [name: string, value: string])[];
  /** Names, as written, and SHA-256. */
  readonly files: readonly (readonly [name: string, sha256: string])[];
  readonly headings: readonly string[];
  readonly facts: readonly string[];
  /** Elements that only a value could have brought. */
  readonly foreign: number;
}

/** Runs in the page. */
const READ_CARD = `(() => {
  for (const details of document.querySelectorAll("details")) details.open = true;
  const textOf = (part) => part.textContent;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  return {
    args: all(".arguments > dt").map((name) => [
      textOf(name.querySelector("code")),
      all(".text", name.nextElementSibling).map(textOf).join(""),
    ]),
    files: all(".files > li").map((row) => [textOf(row.querySelector(".name")), textOf(row.querySelector(".digest code"))]),
    headings: all("h1, h2").map(textOf),
    facts: all("dl:not(.arguments) dd").map(textOf).slice(0, 4),
    foreign: all("main :is(script, b, svg, iframe, object)").length,
  };
})()`;

const desk = useDesk();
const PHONE = { colorScheme: "light", width: 390 } as const;
const TEXTS_OF_A_CALL = 30;

test("each text of the contract of all cards is on a phone as it is sent", async () => {
  const integrations = [createKeeper([])];
  const service = desk.keep(await startTestService({ integrations, approvals: "owner" }));
  await service.service.connections.add({ integration: "keeper", label: "Mine", settings: {} });
  const page = await desk.openPage(service, PHONE);
  const base = page.url().replace(/\/$/, "");
  let compared = 0;

  for (let from = 0; from < CARD_TEXTS.length; from += TEXTS_OF_A_CALL) {
    const texts = CARD_TEXTS.slice(from, from + TEXTS_OF_A_CALL).map(({ text }) => text);
    const { id, args } = await hold(service, Object.fromEntries(texts.map((text, at) => [`t${at}`, text])));
    await page.goto(`${base}/inbox/${id}`);
    const card = await page.evaluate<Card>(READ_CARD);
    expect(Object.fromEntries(card.args.map(([name, value]) => [readExactly(name), readExactly(value)]))).toEqual(args);
    expect(card.foreign).toBe(0);
    expect(await measureOverflow(page)).toBe(0);
    await call(`${service.url}/api/approvals/${id}/cancel`, { method: "POST", key: service.apiKey });
    compared += Object.keys(args).length;
  }
  expect(compared).toBeGreaterThan(0.9 * CARD_TEXTS.length);
});

/** Has a call held, without the arguments that are refused before: a placeholder such as <script>. */
async function hold(service: TestService, args: Readonly<Record<string, string>>) {
  const reply = await execute(service, "keeper_keep", { arguments: args });
  const id: unknown = reply.json?.error?.approval?.id;
  if (typeof id === "string") return { id, args };
  const refused = new Set(reply.text.match(/\bt\d+\b/g));
  expect(refused.size, reply.text).toBeGreaterThan(0);
  return hold(service, Object.fromEntries(Object.entries(args).filter(([name]) => !refused.has(name))));
}

test("what the page of a call shows is what runs, to the last character and byte", async () => {
  const received: Received[] = [];
  const integrations = [createKeeper(received)];
  const service = desk.keep(await startTestService({ integrations, approvals: "owner" }));
  const connection = await service.service.connections.add({ integration: "keeper", label: "Mine", settings: {} });
  const page = await desk.openPage(service);
  const base = page.url().replace(/\/$/, "");
  const counts = { compared: 0, values: 0, files: 0, refused: 0 };

  const check = async (one: Sent) => {
    const reply = await execute(service, "keeper_keep", writeBody(one));
    const id = reply.json?.error?.approval?.id;
    if (id === undefined) {
      expect(reply.status, reply.text).toBe(400);
      counts.refused += 1;
      return;
    }
    await page.goto(`${base}/inbox/${id}`);
    const card = await page.evaluate<Card>(READ_CARD);
    const count = card.args.length;
    const fileCount = card.files.length;
    expect(card.headings).toEqual([
      "Keep",
      "The call",
      count === 0 ? "No arguments" : `Arguments: ${count}`,
      ...(fileCount === 0 ? [] : [`Files: ${fileCount}`]),
      "Your decision",
    ]);
    expect(card.facts).toEqual([
      "keeper_keep",
      "Keeper",
      `Mine ${connection.id}`,
      "writes: can create or change something",
    ]);
    expect(card.foreign).toBe(0);
    expect(await measureOverflow(page)).toBe(0);
    const before = received.length;
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    await expect.poll(() => received.length).toBe(before + 1);
    const ran = received.at(-1);
    const shown = Object.fromEntries(card.args.map(([name, value]) => [readExactly(name), readExactly(value)]));
    const differs = `shown ${JSON.stringify(shown)}\nran   ${JSON.stringify(ran?.args)}`;
    expect(isDeepStrictEqual(shown, ran?.args), differs).toBe(true);
    expect(JSON.stringify(shown)).toBe(JSON.stringify(ran?.args));
    expect(card.files.map(([name, sha256]) => ({ name: readExactly(name), sha256 }))).toEqual(ran?.files);
    counts.compared += 1;
    counts.values += count;
    counts.files += fileCount;
  };

  await fc.assert(fc.asyncProperty(sent, check), fuzzOptions({ runs: 40 }));
  console.log(`Cards compared with what ran: ${JSON.stringify(counts)}`);
  expect(counts.compared).toBeGreaterThan(counts.refused);
  expect(counts.files).toBeGreaterThan(0);
});
