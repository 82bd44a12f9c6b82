import { describe, expect, it } from "vitest";
import { type ApprovalSubject, createApprovalRequest } from "../../../src/approvals/request.ts";
import { createHostCard } from "../../../src/runtimes/openclaw/approval-card.ts";

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
  return createHostCard(createApprovalRequest(subject, { now: 0, ttlMs: 1 }), CODE);
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
    const read = (more: Partial<ApprovalSubject>) => card({ ...flow, ...more }).description.split("\n")[0];
    expect(read({ ...none, hasAccount: false })).toBe("flows: svc_start_flow, writes");
    expect(read(none)).toBe("flows (default account): svc_start_flow, writes");
    expect(read({})).toBe("flows (Work, account c1): svc_start_flow, writes");
  });

  it("says app, account, action, effect, arguments and why", () => {
    expect(card()).toMatchObject({
      title: "Send a message (Work)",
      description: [
        "mail (Work, account c1): mail_send_message, writes",
        'to: ["ann@example.org"]',
        "subject: Hello",
        "text: Short.",
        "Why: This tool can change things, so you are asked first.",
        "Always: this tool with this account, until /svc rules revoke.",
      ].join("\n"),
      severity: "warning",
      allowedDecisions: ["allow-once", "allow-always", "deny"],
    });
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
      "File file: report.pdf, application/pdf, 1,234,567 bytes, md5 0123456789abcdef0123456789abcdef, from media://inbound/",
    );
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
    expect(long.description).toMatch(/\nCut: \d{4} characters\. All of it: \/svc show K7PM2QXA$/);
  });

  it("shows first and whole whom it reaches, whatever is stuffed in", () => {
    expect(long.description.split("\n").slice(1, 3)).toEqual(["to: ann@example.org", "bcc: eve@example.net"]);
    expect(long.description).toMatch(/\naaa: x+…\ntext: y+…\n/);
  });

  it("names the arguments and files that have no line of their own", () => {
    const args = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`field${index}`, index]));
    const files = Array.from({ length: 9 }, (_, index) => ({ ...file(`f${index}.pdf`), field: `files[${index}]` }));
    const { description } = card({ arguments: args, files });
    expect(description).toMatch(/\n\+23 more: field7: 7/);
    expect(description).toMatch(/\n\+7 more files: files\[2\]: f2\.pdf/);
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

describe("the host's own words", () => {
  it("name the recipients of a mail", () => {
    expect(card({ arguments: { to: ["a@x.org", "b@x.org"], cc: "c@x.org" } }).scope).toEqual({
      kind: "message-send",
      target: "mail",
      recipientCount: 3,
      recipients: ["a@x.org", "b@x.org", "c@x.org"],
    });
  });

  it.each([
    ["no plain addresses", { arguments: { to: "everybody" } }],
    ["a list inside one text", { arguments: { to: "a@x.org, b@x.org" } }],
    ["a draft", { tool: "mail_send_draft_copy", arguments: { to: "a@x.org" } }],
    ["another app", { integration: "notes" }],
    [
      "an amount that may be in cents",
      { tool: "stripe_create_payment", arguments: { amount: "4999", currency: "eur" } },
    ],
    ["a post nobody says is public", { tool: "mastodon_create_post", arguments: { text: "a" } }],
  ] satisfies [string, Partial<ApprovalSubject>][])("say nothing for %s", (_what, more) => {
    expect(card(more).scope).toBeUndefined();
  });

  it("name a payment and a public post", () => {
    const pay = { tool: "shop_create_payment", integration: "shop", arguments: { amount: "49.99", currency: "eur" } };
    expect(card(pay).scope).toEqual({ kind: "payment", amount: "49.99", currency: "EUR", target: "shop" });
    const post = { tool: "fedi_post", integration: "fedi", arguments: { visibility: "public" } };
    expect(card(post).scope).toEqual({ kind: "external-post", target: "fedi", visibility: "public" });
  });
});
