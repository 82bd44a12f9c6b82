import fc, { type Arbitrary } from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { readUploadHint, type UploadReading } from "../../../src/plugin/media/send/upload-hint.ts";
import {
  BASE_URL,
  GOOD_COMMANDS,
  HOSTILE_COMMANDS,
  INGEST_URL,
  REFERENCE,
} from "../../fixtures/media/upload-commands.ts";
import { FUZZ_FACTOR, fuzzOptions } from "../../fuzz/fuzz-options.ts";

vi.setConfig({ testTimeout: 60_000 * FUZZ_FACTOR });

const read = (hint: string, reference = REFERENCE) => readUploadHint({ hint, baseUrl: BASE_URL, reference });
const HEADERS = ["authorization", "accept", "x-svc-upload-token", "x-upload-token", "x-ingest-token"];

/** Whatever was read, it is an upload of this call's file to this service's own place for uploads. */
function expectOwn(reading: UploadReading): void {
  if (!reading.ok) {
    expect(reading.reason).toMatch(/\w/);
    return;
  }
  const { plan } = reading;
  const url = new URL(plan.url);
  expect(`${url.origin}${url.pathname}`).toBe(INGEST_URL);
  expect(url.username + url.password + url.hash).toBe("");
  expect([...url.searchParams.keys()].every((key) => key === "token")).toBe(true);
  expect(["POST", "PUT"]).toContain(plan.method);
  for (const [name, value] of Object.entries(plan.headers)) {
    expect(HEADERS).toContain(name);
    expect(value).not.toMatch(/[\r\n]|^@/);
  }
  expect(JSON.stringify(plan)).not.toContain(REFERENCE);
}

const all = [...GOOD_COMMANDS.map(({ command }) => command), ...Object.values(HOSTILE_COMMANDS)];
const PIECES = [
  ..."'\"\\ \n\r\t$`;&|<>(){}[]*?!~^#@=:/.-",
  ...[
    "curl",
    "--next",
    "-K",
    "-o",
    "--proxy",
    "-x",
    "-L",
    "-u",
    "-d",
    "--data-binary",
    "-F",
    "-T",
    "-H",
    "--url",
    "-X",
    "PUT",
    "DELETE",
  ],
  ...[
    "https://evil.example/app/api/files/ingest",
    "https://svc.example@evil.example/",
    "http://127.0.0.1/",
    "file:///etc/passwd",
  ],
  ...[
    "@/etc/passwd",
    `@${REFERENCE}`,
    "X-Svc-Api-Key: x",
    "Host: evil.example",
    "$(id)",
    "\u202e",
    "\u0000",
    ".evil.example",
    "%2e%2e/",
  ],
];

describe("any text", () => {
  test("made of pieces of commands gives nothing but an upload to the service itself", () => {
    let accepted = 0;
    const commands = fc
      .tuple(
        fc.constantFrom(...all),
        fc.array(fc.tuple(fc.nat(400), fc.nat(12), fc.constantFrom("", ...PIECES)), { maxLength: 3 }),
      )
      .map(([command, changes]) =>
        changes.reduce((text, [at, cut, put]) => {
          const from = at % (text.length + 1);
          return text.slice(0, from) + put + text.slice(from + (cut % 4 === 0 ? cut : 0));
        }, command),
      );
    fc.assert(
      fc.property(
        fc.oneof(
          commands,
          fc.tuple(commands, commands).map((two) => two.join("\n")),
          fc.string({ unit: "binary" }),
        ),
        (hint) => {
          const reading = read(hint);
          expectOwn(reading);
          if (reading.ok) accepted += 1;
        },
      ),
      fuzzOptions({ runs: 6_000 }),
    );
    expect(accepted).toBeGreaterThan(200);
  });
});

describe("a good command", () => {
  const quote = (text: string): Arbitrary<string> =>
    fc.constantFrom(
      `'${text.replaceAll("'", "'\\''")}'`,
      `"${text.replaceAll(/["\\$`]/g, "\\$&")}"`,
      text.replaceAll(/[^\w./:=@-]/g, "\\$&"),
    );
  const inQuotes = (text: string) => fc.constantFrom(`'${text}'`, `"${text}"`);
  const token = fc.stringMatching(/^[A-Za-z0-9._~+/=-]{16,60}$/);
  const folder = fc.array(fc.stringMatching(/^[\w é'"$ -]{1,8}$/), { minLength: 1, maxLength: 3 });
  const good = fc
    .record({
      token,
      parts: folder,
      method: fc.constantFrom("POST", "PUT"),
      order: fc.nat(23),
      glue: fc.constantFrom(" ", " \\\n  ", "  "),
    })
    .chain(({ token, parts, method, order, glue }) => {
      const reference = `/media/${parts.map((part) => part.trim() || "a").join("/")}/x.jpg`;
      return fc
        .tuple(inQuotes(INGEST_URL), inQuotes(`Authorization: Bearer ${token}`), quote(`@${reference}`))
        .map(([url, header, file]) => {
          const words = [`-X ${method}`, url, `-H ${header}`, `--data-binary ${file}`];
          const turned = [...words.slice(order % 4), ...words.slice(0, order % 4)];
          return { command: ["curl", ...turned].join(glue), reference, token, method };
        });
    });

  test("is read as what it says, however it is quoted, ordered and broken into lines", () => {
    fc.assert(
      fc.property(good, ({ command, reference, token, method }) => {
        const hint = `The bytes are missing. Upload them:\n\`\`\`\n${command}\n\`\`\``;
        expect(read(hint, reference)).toEqual({
          ok: true,
          plan: { url: INGEST_URL, method, headers: { authorization: `Bearer ${token}` } },
        });
        expect(read(hint, `${reference}x`).ok).toBe(false);
      }),
      fuzzOptions({ runs: 600 }),
    );
  });
});
