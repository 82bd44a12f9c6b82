import { describe, expect, test } from "vitest";
import { redactHint } from "../../../../src/plugin/media/send/redact-hint.ts";
import { readUploadHint } from "../../../../src/plugin/media/send/upload-hint.ts";
import { verifies } from "../../../contract/verifies.ts";
import { measureCpuTime } from "../../../cpu-time.ts";
import {
  BASE_URL,
  GOOD_COMMANDS,
  HOSTILE_COMMANDS,
  INGEST_URL,
  REFERENCE,
  TOKEN,
} from "../../../fixtures/media/upload-commands.ts";

/** Of a service that writes its tokens in another way. */
const OTHER_TOKEN = "up1oad-9f8e7d6c5b4a3928";

const PROSE = "The bytes are missing. You can use curl to upload the file, then repeat the call:";

const FRAMES: Readonly<Record<string, (command: string) => string>> = {
  "the command alone": (command) => command,
  "after a colon and a line break": (command) => `${PROSE}\n${command}\nThe key is in the answer.`,
  "after a colon": (command) => `Run: ${command}`,
  "with a prompt": (command) => `${PROSE}\n  $ ${command}`,
  "in a fenced block": (command) => `${PROSE}\n\n\`\`\`bash\n${command}\n\`\`\`\nThen repeat the call.`,
};

const read = (hint: string) => readUploadHint({ hint, baseUrl: BASE_URL, reference: REFERENCE });

describe.each(Object.entries(FRAMES))("a good command %s", (_frame, wrap) => {
  test.each(GOOD_COMMANDS.map((one) => [one.what, one] as const))("%s", (_what, { command, method }) => {
    verifies("files.plugin-runs-no-command", "decision.plugin-tolerates-other-hints");
    const reading = read(wrap(command));
    if (!reading.ok) throw new Error(reading.reason);
    expect(reading.plan.url.replace(/\?.*/, "")).toBe(INGEST_URL);
    expect(reading.plan.method).toBe(method ?? "POST");
    expect(JSON.stringify(reading.plan)).toContain(TOKEN);
    expect(JSON.stringify(reading.plan)).not.toContain(REFERENCE);
  });
});

describe.each(Object.entries(FRAMES))("a hostile command %s", (_frame, wrap) => {
  test.each(Object.entries(HOSTILE_COMMANDS))("%s", (what, command) => {
    verifies("files.plugin-runs-no-command", "decision.plugin-tolerates-other-hints");
    // Only a fence shows where a command ends; elsewhere the next line is prose.
    const cutByLine = what === "second line" || what === "Windows carets" || what === "trailing backslash";
    const text = wrap(command);
    const reading = read(text);
    if (cutByLine && reading.ok) {
      expect(text).not.toContain("```");
      expect(reading.plan.url).toBe(INGEST_URL);
      return;
    }
    expect(reading.ok).toBe(false);
    expect(JSON.stringify(reading)).not.toContain(TOKEN);
  });
});

describe("a path of Windows", () => {
  const path = String.raw`C:\Users\Zoë Löwe\$5 photo.png`;
  const plain = path.replace("$5 ", "");
  const readFor = (reference: string, word: string) =>
    readUploadHint({
      hint: `curl -X POST "${INGEST_URL}" -H "Authorization: Bearer ${TOKEN}" --data-binary ${word}`,
      baseUrl: BASE_URL,
      reference,
    });

  test.each([
    ["in double quotes as it is", plain, `"@${plain}"`],
    ["in double quotes as a shell wants it", path, `"@${path.replaceAll(/[\\$]/g, "\\$&")}"`],
    ["in single quotes", path, `'@${path}'`],
  ])("%s", (_what, reference, word) => {
    expect(readFor(reference, word)).toMatchObject({ ok: true });
  });

  test.each([
    ["with what a shell would replace", path, `"@${path}"`],
    ["of another file", plain, `"@${plain.replace("Zoë", "Zoe")}"`],
    ["with more behind it", plain, `"@${plain}" -T "${plain}"`],
  ])("%s is refused", (_what, reference, word) => {
    expect(readFor(reference, word)).toMatchObject({ ok: false });
  });
});

describe("finding the one command", () => {
  const good = GOOD_COMMANDS[0]?.command ?? "";
  const refused = (hint: string) => expect(read(hint)).toMatchObject({ ok: false });

  test("a span in back-ticks", () => {
    expect(read(`Upload it with \`${good}\` and repeat the call.`)).toMatchObject({ ok: true });
  });

  test("two good commands are ambiguous", () => {
    refused(`First:\n${good}\nOr:\n${good.replace("POST", "PUT")}`);
  });

  test("a bad command beside a good one does not count", () => {
    expect(read(`Do not run: ${HOSTILE_COMMANDS["another host"]}\nbut run:\n${good}`)).toMatchObject({ ok: true });
  });

  test("a fenced block is one command or none", () => {
    refused(`\`\`\`\n${good}\nrm -rf ~\n\`\`\``);
    refused(`\`\`\`\nexport A=1\n${good}\n\`\`\``);
    refused(`\`\`\`\n${good}\nrm -rf ~\n`);
  });

  test("no command, no hint, endless hint, broken base URL", () => {
    refused("Please re-attach the file.");
    refused(`${good}${" ".repeat(20_000)}`);
    expect(readUploadHint({ baseUrl: BASE_URL, reference: REFERENCE })).toMatchObject({ ok: false });
    expect(readUploadHint({ hint: good, baseUrl: "not a url", reference: REFERENCE })).toMatchObject({ ok: false });
  });

  test("http is fine on loopback only", () => {
    const at = (base: string) =>
      readUploadHint({ hint: good.replace(BASE_URL, base), baseUrl: base, reference: REFERENCE }).ok;
    expect(at("http://127.0.0.1:8790")).toBe(true);
    expect(at("http://localhost:8790")).toBe(true);
    expect(at("http://[::1]:8790")).toBe(false); // A shell would read the brackets as a pattern.
    expect(at("http://192.168.1.5:8790")).toBe(false);
    expect(at("http://localhost.evil.com")).toBe(false);
  });
});

describe("the structured instruction", () => {
  const upload = {
    url: INGEST_URL,
    method: "POST",
    headers: { Authorization: `Bearer ${TOKEN}`, "Content-Type": "application/octet-stream" },
    field: "file",
    maxBytes: 1000,
    expiresAt: "2026-01-01T00:00:00.000Z",
  };
  const readStructured = (change: object) =>
    readUploadHint({
      upload: { ...upload, ...change },
      hint: GOOD_COMMANDS[0]?.command,
      baseUrl: BASE_URL,
      reference: REFERENCE,
    });

  test("is read, and wins over the prose", () => {
    expect(readStructured({})).toEqual({
      ok: true,
      plan: { url: INGEST_URL, method: "POST", headers: { authorization: `Bearer ${TOKEN}` }, maxBytes: 1000 },
    });
  });

  test.each([
    ["another host", { url: INGEST_URL.replace("svc.example", "evil.com") }],
    ["another path", { url: `${INGEST_URL}/x` }],
    ["GET", { method: "GET" }],
    ["lower-case method", { method: "post" }],
    ["no token", { headers: {} }],
    ["host header", { headers: { ...upload.headers, Host: "evil.com" } }],
    ["line break in a header", { headers: { ...upload.headers, Accept: "a\r\nX: y" } }],
    ["two tokens", { headers: { ...upload.headers, "x-upload-token": TOKEN } }],
    ["another file", { reference: "/etc/passwd" }],
  ])("%s is refused, and the prose is not tried instead", (_what, change) => {
    expect(readStructured(change)).toMatchObject({ ok: false });
  });
});

describe("redaction", () => {
  const all = [...GOOD_COMMANDS.map(({ command }) => command), ...Object.values(HOSTILE_COMMANDS)];

  test.each(Object.entries(FRAMES))("no token is left of any command %s", (_frame, wrap) => {
    for (const command of all) {
      const masked = redactHint(wrap(command));
      expect(masked).not.toContain(TOKEN);
      expect(masked).not.toContain("svc_live_0123456789");
    }
  });

  test("prose stays", () => {
    const hint = `${PROSE}\n${GOOD_COMMANDS[0]?.command}\nThe key is in the answer.`;
    expect(redactHint(hint)).toBe(`${PROSE}\n[upload command]\nThe key is in the answer.`);
    expect(redactHint("Check the field attachments[0] and try again.")).toBe(
      "Check the field attachments[0] and try again.",
    );
  });

  test.each([
    [`TOKEN='${TOKEN}'; curl -H "Authorization: Bearer $TOKEN" ${INGEST_URL}`],
    [`export T="${TOKEN}" && curl -H "Authorization: Bearer $T" ${INGEST_URL}`],
    [`T=${TOKEN}\ncurl -T file ${INGEST_URL} -H "Authorization: Bearer $T"`],
    [`$env:T = "${TOKEN}"; Invoke-WebRequest ${INGEST_URL}`],
    [`First set upload_token: "${TOKEN}".\nThen: curl ${INGEST_URL}`],
    [`Upload with curl -T file ${INGEST_URL}\nYour one-time code is\n  ${TOKEN}`],
    [`'token' = '${TOKEN}' is good for one upload.`],
  ])("a token beside the command is masked: %j", (hint) => {
    const masked = redactHint(hint);
    for (const token of [TOKEN, OTHER_TOKEN]) expect(masked).not.toContain(token);
    expect(redactHint(hint.replaceAll(TOKEN, OTHER_TOKEN))).not.toContain(OTHER_TOKEN);
    for (const part of TOKEN.split(/[^\w]/).filter(({ length }) => length >= 16)) expect(masked).not.toContain(part);
  });

  test("tokens outside of commands are masked", () => {
    expect(redactHint(`Authorization: Bearer ${TOKEN}`)).toBe("Authorization: Bearer [hidden]");
    expect(redactHint(`PUT ${INGEST_URL}?token=abcdefgh&x=1`)).toContain("?token=[hidden]&x=1");
    expect(redactHint(`the token ${TOKEN} is good for one upload`)).not.toContain(TOKEN);
  });
});

/** Each made the time grow with the square of the text, or worse. */
const LABOURS: Readonly<Record<string, string>> = {
  "blanks before many commands": `${" ".repeat(1_500)}!${" curl".repeat(1_500)}`,
  "a colon before many commands": `${" ".repeat(1_500)}!${"curl:".repeat(1_500)}`,
  "a text of millions of characters": "curl ".repeat(400_000),
  "many commands on lines that go on": "curl -x \\\n".repeat(200_000),
};

test.each(Object.entries(LABOURS))("a hint made to take long takes no time: %s", (_name, hint) => {
  const spent = measureCpuTime();
  expect(readUploadHint({ hint, baseUrl: BASE_URL, reference: REFERENCE }).ok).toBe(false);
  expect(redactHint(hint).length).toBeLessThanOrEqual(hint.length);
  expect(spent()).toBeLessThan(2_000);
});

test("a token behind sixteen thousand characters is not shown", () => {
  expect(redactHint(`${"a ".repeat(8_150)}Bearer ${TOKEN}${TOKEN}`)).not.toContain(TOKEN.slice(0, 30));
  expect(redactHint(`${"a ".repeat(10_000)}${TOKEN}`)).not.toContain(TOKEN.slice(0, 10));
});

test("a header of a hundred thousand blanks is refused at once", () => {
  const headers = { accept: `a${" ".repeat(100_000)}b` };
  const upload = { url: INGEST_URL, method: "POST", headers, field: "file", maxBytes: 1, expiresAt: "" };
  const spent = measureCpuTime();
  expect(readUploadHint({ upload, baseUrl: BASE_URL, reference: REFERENCE })).toEqual({
    ok: false,
    reason: "a header is malformed",
  });
  expect(spent()).toBeLessThan(1_000);
});
