import { describe, expect, it } from "vitest";
import { createApprovalCard } from "../../../../src/plugin/calls/ask/card.ts";
import { type ApprovalSubject, createApprovalRequest } from "../../../../src/plugin/calls/ask/request.ts";
import { cutText } from "../../../../src/shared/base/text.ts";
import { toPlainText } from "../../../../src/shared/card/plain-text.ts";
import { previewSchema } from "../../../../src/shared/wire/preview.ts";

const SUBJECT: ApprovalSubject = {
  tool: "drive_upload_file",
  integration: "drive",
  account: "Family drive",
  connection: "con_1",
  arguments: { name: "cat.png", folder: "pets" },
  files: [
    {
      field: "file",
      name: "cat.png",
      mimetype: "image/png",
      size: 68,
      md5: "abc",
      sha256: "def",
      reference: "/media/cat.png",
    },
  ],
  effect: "write",
  title: "Save a file",
  description: "Saves a file.",
  reason: "It writes.",
  askBefore: ["Into which folder?"],
  principal: "p1",
};

function createCard(change: Partial<ApprovalSubject> = {}, options = {}): string {
  const request = createApprovalRequest({ ...SUBJECT, ...change }, { now: 0, ttlMs: 60_000 });
  return createApprovalCard(request, options).join("\n");
}

describe("createApprovalCard", () => {
  it("shows app, account, action, arguments, files, effect, reason and expiry, and what is asked once more", () => {
    expect(createCard().split("\n")).toEqual([
      "Approval needed",
      "Action    │ Save a file",
      "Tool      │ drive_upload_file",
      "App       │ drive",
      "Account   │ Family drive (connection con_1)",
      "Effect    │ writes: can create or change something",
      "Arguments │ name: cat.png",
      "          │ folder: pets",
      "Files     │ cat.png, image/png, 68 bytes, md5 abc, from /media/",
      "Why asked │ It writes.",
      "Check     │ Into which folder?",
      "It does   │ Saves a file.",
      "Expires   │ 1970-01-01T00:01:00.000Z",
      "Approve?  │ drive_upload_file, writes, Family drive",
    ]);
  });

  it("names no account where there is none; an app called flows has one, whatever its tools are called", () => {
    const flow = { tool: "svc_start_flow", integration: "flows", account: undefined, connection: undefined };
    expect(createCard({ ...flow, hasAccount: false })).not.toMatch(/^Account|default connection/m);
    expect(createCard(flow)).toContain("\nAccount   │ default connection\n");
    expect(createCard({ ...flow, account: "Ann", connection: "c1" })).toContain("\nAccount   │ Ann (connection c1)\n");
  });

  it("tells a file once, also in a list, and leaves nothing out that its line does not tell", () => {
    const file = (field: string) => ({
      field,
      name: "cat.png",
      mimetype: "image/png",
      size: 68,
      md5: "abc",
      sha256: "def",
      reference: "/media/cat.png",
    });
    const value = { name: "cat.png", mimetype: "image/png", s3key: "/media/cat.png" };
    const files = [file("attachments[0]"), file("attachments[1]")];
    const told = createCard({ arguments: { attachments: [value, value] }, files });
    expect(told).not.toContain("attachments: ");
    expect(told.match(/attachments\[\d\]: cat\.png, image\/png, 68 bytes/g)).toHaveLength(2);
    const more = createCard({ arguments: { attachments: [value, { ...value, inline: true }] }, files });
    expect(more).toContain('"inline": true');
  });

  it("leaves out what says nothing about this call first, then the ends of the longest values, and counts them", () => {
    const text = "word ".repeat(1_000);
    const card = createCard({ arguments: { to: "ann@example.org", text } }, { maxRows: 12, howToSeeAll: "Answer v." });
    const lines = card.split("\n");
    expect(lines.length).toBeLessThanOrEqual(16);
    expect(lines).toContain("Arguments │ to: ann@example.org");
    expect(card).toMatch(/\n\[cut: [\d,]+ of 5,0\d\d characters\]\n/);
    expect(lines.slice(-4)).toEqual([
      "[left out: why asked, check, it does, expires]",
      "NOT COMPLETE: not all of this call is on this card.",
      "Answer v.",
      "Approve?  │ drive_upload_file, writes, Family drive",
    ]);
    const whole = createCard({ arguments: { text } }, { maxRows: Number.POSITIVE_INFINITY });
    expect(whole).not.toMatch(/\[cut|\[left out/);
    expect(whole.match(/word/g)).toHaveLength(1_000);
  });

  it("wraps at the width it is given, letters of double width counted as two", () => {
    const card = createCard({ arguments: { text: "漢字".repeat(60) } }, { columns: 40 });
    const rows = card.split("\n").filter((row) => row.includes("漢"));
    expect(rows.length).toBeGreaterThan(8);
    for (const row of rows) expect(row.length + (row.match(/[漢字]/g) ?? []).length).toBeLessThanOrEqual(40);
  });

  it("shows runs of spaces, loose marks and what looks like its gutter", () => {
    const card = createCard({
      arguments: { text: "a  b", mark: "\u0301x", many: `e${"\u0301".repeat(9)}`, line: "│ x" },
    });
    expect(card).toContain('text: "a \\u0020b"');
    expect(card).toContain('mark: "\\u0301x"');
    expect(card).toContain(`many: "e${"\u0301".repeat(3)}${"\\u0301".repeat(6)}"`);
    expect(card).toContain('line: "\\u2502 x"');
  });

  it("stands in a fence where Markdown is rendered, and holds nothing that closes it", () => {
    const lines = createCard({ arguments: { text: "````` ``` `` `" } }, { isMarkdown: true }).split("\n");
    expect([lines[0], lines.at(-1)]).toEqual(["```", "```"]);
    expect(lines.slice(1, -1).join("\n")).not.toContain("```");
    expect(lines.join("\n")).toContain('text: "``\\u0060\\u0060\\u0060 ``\\u0060 `` `"');
  });

  it("cannot be forged by text from the model or the service", () => {
    const card = createCard({
      account: "a\u001b[2Jb",
      arguments: { name: "x\u001b]0;title\u0007\u202egnp.exe", text: "line\nFiles     │ none" },
      files: [
        {
          field: "file",
          name: "a\nb.png",
          mimetype: "image/png",
          size: 1,
          md5: "abc",
          sha256: "def",
          reference: "/media/\u001b[31m",
        },
      ],
      title: "Save\nEffect    │ reads only",
      reason: "because\n\nTool      │ drive_list_files",
      askBefore: ["a\u009b31m"],
    });
    expect(card.replaceAll("\n", "")).not.toMatch(/\p{Cc}|\u202e/u);
    for (const label of ["Files", "Effect", "Tool"]) {
      expect(card.match(new RegExp(`^${label} +│`, "gm"))).toHaveLength(1);
    }
  });
});

describe("toPlainText", () => {
  it("keeps letters of every script, joiners and emoji", () => {
    const text = "نمی‌خواهم 👩‍🚀 naïve 漢字";
    expect(toPlainText(text)).toBe(text);
  });

  it("makes invisible tag characters and zero-width spaces visible", () => {
    expect(toPlainText("a\u{e0041}\u200bb")).toBe("a\\udb40\\udc41\\u200bb");
  });

  it("never splits a surrogate pair when it cuts", () => {
    expect(cutText("ab😀c", 3)).toBe("ab");
    expect(toPlainText("ab😀c", { max: 4 })).toBe("ab…");
  });
});

describe("the card of a flow that waits", () => {
  const looked = (summary: string, state: string) => ({
    stepKey: "fill",
    preview: previewSchema.parse({
      ...{ summary, state, undo: { possible: false } },
      changes: [{ field: "Content", before: "apples", after: "pears" }],
    }),
  });
  const flow = { tool: "svc_approve_flow", integration: "flows", files: [], arguments: { step: "ask" } };

  it("says of each call what it would do, or why that is not known, before everything else", () => {
    const missing = { code: "depends_on_step", text: 'What it does depends on what the step "a" finds.' };
    const previews = [looked("Fill it", "1"), { stepKey: "b", missing }, { stepKey: "c", label: "the rest", missing }];
    expect(
      createCard({ ...flow, previews })
        .split("\n")
        .slice(0, 7),
    ).toEqual([
      "Approval needed",
      "Call 1    │ Fill it",
      "Changes   │ Content: apples -> pears",
      "Undo      │ not by the service",
      'Call 2    │ What it does depends on what the step "a" finds.',
      'Call 3    │ the rest: What it does depends on what the step "a" finds.',
      "Action    │ Save a file",
    ]);
  });

  it("is one for the states that it shows", () => {
    const fingerprint = (states: readonly string[]) => {
      const previews = states.map((state) => looked("Fill it", state));
      return createApprovalRequest({ ...SUBJECT, ...flow, previews }, { now: 0, ttlMs: 1 }).fingerprint;
    };
    const all = [["1"], ["2"], ["1", "2"], ["2", "1"], []].map(fingerprint);
    expect(new Set(all).size).toBe(all.length);
    expect(fingerprint(["1", "2"])).toBe(all[2]);
  });
});
