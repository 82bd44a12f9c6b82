import { describe, expect, it } from "vitest";
import { type ApprovalSubject, createApprovalRequest } from "../../../../../src/plugin/calls/ask/request.ts";
import { createHostCard } from "../../../../../src/plugin/runtimes/openclaw/ask/approval-card.ts";
import { previewSchema } from "../../../../../src/shared/wire/preview.ts";

const CODE = "K7PM2QXA";

function card(more: Partial<ApprovalSubject> = {}) {
  const subject: ApprovalSubject = {
    tool: "mail_send_message",
    integration: "mail",
    account: "Work",
    connection: "c1",
    arguments: { to: ["ann@example.org"], subject: "Hello", text: "Short." },
    files: [],
    effect: "write",
    title: "Send a message",
    description: "",
    reason: "This tool can change things, so you are asked first.",
    principal: "p",
    ...more,
  };
  return createHostCard(createApprovalRequest(subject, { now: 0, ttlMs: 1 }), CODE).card;
}

const file = (name: string) => ({
  field: "file",
  name,
  mimetype: "application/pdf",
  size: 1_234_567,
  md5: "0123456789abcdef0123456789abcdef",
  sha256: "01234567".repeat(8),
  reference: `media://inbound/${name}`,
});

describe("a card", () => {
  it("names no account where there is none; an app called flows has one, whatever its tools are called", () => {
    const flow = { tool: "svc_start_flow", integration: "flows", arguments: {} };
    const none = { account: undefined, connection: undefined };
    const read = (more: Partial<ApprovalSubject>) => card({ ...flow, ...more }).description.split("\n")[2];
    expect(read({ ...none, hasAccount: false })).toBe("flows: svc_start_flow, writes");
    expect(read(none)).toBe("flows (default account): svc_start_flow, writes");
    expect(read({})).toBe("flows (Work): svc_start_flow, writes");
  });

  it("says what the calls of a flow would do, in a way that no value can pretend", () => {
    const previews = ["Fill it. Call 2: nothing", "Empty it"].map((summary) => ({
      ...{ stepKey: "fill", preview: previewSchema.parse({ summary, state: "1", undo: { possible: false } }) },
    }));
    const { description } = card({ tool: "svc_approve_flow", integration: "flows", arguments: {}, previews });
    expect(description.split("\n").filter((line) => line.startsWith("Call"))).toEqual([
      "Call 1: Fill it. Call 2\\u003a nothing",
      "Call 2: Empty it",
    ]);
  });

  it("says app, account, action, effect, arguments and why", () => {
    expect(card()).toMatchObject({
      title: "Send a message (Work): `ann@example.org`",
      description: [
        "",
        "```",
        "mail (Work): mail_send_message, writes",
        'to: ["ann@example.org"]',
        "subject: Hello",
        "text: Short.",
        "Why: This tool can change things, so you are asked first.",
        "Always: this tool with this account, until /svc rules revoke.",
        "```",
      ].join("\n"),
      severity: "warning",
      allowedDecisions: ["allow-once", "allow-always", "deny"],
    });
  });

  it.each([
    ["a folder", { path: "Quotes/2026" }, "Send a message (Work): `Quotes/2026`"],
    ["all recipients", { to: ["ann@example.org"], bcc: ["eve@x.example"] }, "Send a message: `ann@example.org`, +1"],
    ["a name that closes no code", { name: "a`b" }, "Send a message (Work): `a\\u0060b`"],
    ["nothing that is too long to be shown whole", { path: "a".repeat(30) }, "Send a message (Work)"],
    ["nothing that looks like a key", { name: "svc_live_abcdefgh" }, "Send a message (Work)"],
    ["nothing else", { text: "Short." }, "Send a message (Work)"],
  ])("names in its title %s, and tells it below, too", (_what, args, title) => {
    expect(card({ arguments: args }).title).toBe(title);
    for (const name of Object.keys(args)) expect(card({ arguments: args }).description).toContain(`\n${name}: `);
  });

  it.each([
    ["read", "info", 2],
    ["write", "warning", 3],
    ["unknown", "warning", 2],
    ["delete", "critical", 2],
    ["admin", "critical", 2],
  ] as const)("of a call that would %s is %s and offers %i answers", (effect, severity, answers) => {
    expect(card({ effect })).toMatchObject({ severity, allowedDecisions: { length: answers } });
  });

  it("offers no standing permission without a known account", () => {
    expect(card({ connection: undefined }).allowedDecisions).toEqual(["allow-once", "deny"]);
  });

  it("names files with type, size, digest and where they come from", () => {
    expect(
      card({ files: [file("report.pdf")], arguments: { file: "media://inbound/report.pdf" } }).description,
    ).toContain(
      "\nFile: report.pdf, application/pdf, 1,234,567 bytes, md5 0123456789abcdef0123456789abcdef, from media://inbound/",
    );
  });
});

describe("an ordinary mail with one PDF", () => {
  const reference = "media://inbound/offer---4f0a1b2c-1111-2222-3333-444455556666.pdf";
  const pdf = { ...file("offer_2026_ümlaut.pdf"), field: "attachments[0]", reference };
  const mail = {
    account: "Local mailbox",
    connection: "con_rn8qhg46tvn3",
    arguments: {
      to: ["ada@example.org"],
      subject: "The offer",
      body: "Dear Ada, here it is.",
      attachments: [{ name: pdf.name, mimetype: pdf.mimetype, s3key: reference }],
    },
    files: [pdf],
    reason: '"Send a message" changes something in Mail.',
    askBefore: ["Who receives this message?", "Are subject, text and attachments right?"],
  };

  it("keeps all of its facts, each told once, and gives up what says nothing about it", () => {
    expect(card(mail).description.split("\n")).toEqual([
      "",
      "```",
      "mail (Local mailbox): mail_send_message, writes",
      'to: ["ada@example.org"]',
      "subject: The offer",
      "body: Dear Ada, here it is.",
      `File attachments[0]: offer_2026_ümlaut.pdf, application/pdf, 1,234,567 bytes, md5 0123456789abcdef0123456789abcdef, from ${reference}`,
      'Why: "Send a message" changes something in Mail.',
      "Check: Who receives this message?",
      "Check: Are subject, text and attachments right?",
      "More: /svc show K7PM2QXA",
      "```",
    ]);
  });

  it("gives up its questions and why it is asked before any fact", () => {
    const { description } = card({ ...mail, arguments: { ...mail.arguments, body: "Dear Ada, ".repeat(15).trim() } });
    expect(description).toContain(`\nbody: ${"Dear Ada, ".repeat(15).trim()}\n`);
    expect(description).toContain(`from ${reference}\n`);
    expect(description).not.toMatch(/\n(Why|Check|Always|NOT COMPLETE): ?/);
  });
});

describe("a card that is too long", () => {
  const long = card({
    arguments: { aaa: "x".repeat(3_000), text: "y".repeat(3_000), to: "ann@example.org", bcc: "eve@example.net" },
    askBefore: ["Is the list of recipients complete, and do all of them know about it?"],
    reason: "z".repeat(900),
    title: "Send ".repeat(40),
    account: "w".repeat(200),
  });

  it("fits, counts what it hides and says how to see it", () => {
    expect(long.title.length).toBeLessThanOrEqual(80);
    expect(long.description.length).toBeLessThanOrEqual(512);
    expect(long.description).toMatch(
      /\nNOT COMPLETE: \d,\d{3} characters are missing\. Read \/svc show K7PM2QXA first: an Allow before that does not count\.\n```$/,
    );
  });

  it("shows first and whole whom it reaches, whatever is stuffed in", () => {
    expect(long.description.split("\n").slice(2, 5)).toEqual([
      `mail (${"w".repeat(63)}…): mail_send_message, writes`,
      "to: ann@example.org",
      "bcc: eve@example.net",
    ]);
    expect(long.description).toMatch(/\naaa: x+…\ntext: y+…\n/);
  });

  it("counts the arguments and files that have no line of their own", () => {
    const args = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`field${index}`, index]));
    const files = Array.from({ length: 9 }, (_, index) => ({ ...file(`f${index}.pdf`), field: `files[${index}]` }));
    const { description } = card({ arguments: args, files });
    expect(description).toMatch(/\nfield6: 6\n\+23 more\n/);
    expect(description).toMatch(/\nFile files\[1\]: .*\n\+7 more files\n/);
    expect(description.length).toBeLessThanOrEqual(512);
  });
});

describe("text from outside", () => {
  it("stays on its line and shows what cannot be seen, before lengths are counted", () => {
    const { description, title } = card({
      title: "Send\u202e",
      arguments: { text: "a\nEffect: reads only\u00a0b\u3000c\u200dd\u3164" },
    });
    expect(description).toContain('\ntext: "a\\nEffect: reads only\\u00a0b\\u3000c\\u200dd\\u3164"\n');
    expect(title).toBe("Send\\u202e (Work)");
  });

  it("loses keys and tokens", () => {
    expect(card({ arguments: { text: "svc_live_abcdefgh" } }).description).not.toContain("abcdefgh");
  });
});
