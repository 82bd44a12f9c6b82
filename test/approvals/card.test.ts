import { describe, expect, it } from "vitest";
import { createApprovalCard } from "../../src/approvals/card.ts";
import { type ApprovalSubject, createApprovalRequest } from "../../src/approvals/request.ts";
import { cutText, toPlainText } from "../../src/wire/plain-text.ts";

function createCard(change: Partial<ApprovalSubject> = {}, options = {}): string {
  const request = createApprovalRequest(
    {
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
      ...change,
    },
    { now: 0, ttlMs: 60_000 },
  );
  return createApprovalCard(request, options).join("\n");
}

describe("createApprovalCard", () => {
  it("shows app, account, action, arguments, files, effect, reason and expiry", () => {
    const card = createCard();
    for (const part of [
      "Save a file",
      "drive_upload_file",
      "Family drive (connection con_1)",
      '"folder": "pets"',
      "file: cat.png, image/png, 68 bytes, md5 abc, from /media/cat.png",
      "writes: creates or changes something",
      "It writes.",
      "Into which folder?",
      "1970-01-01T00:01:00.000Z",
    ]) {
      expect(card).toContain(part);
    }
  });

  it("names no account where there is none; an app called flows has one, whatever its tools are called", () => {
    const flow = { tool: "svc_start_flow", integration: "flows", account: undefined, connection: undefined };
    expect(createCard({ ...flow, hasAccount: false })).not.toMatch(/Account:|default connection/);
    expect(createCard(flow)).toContain("  Account:   default connection\n");
    expect(createCard({ ...flow, account: "Ann", connection: "c1" })).toContain("  Account:   Ann (connection c1)\n");
  });

  it("says exactly what it cut and how to see it", () => {
    const text = "x".repeat(5_000);
    const card = createCard({ arguments: { text } }, { maxArguments: 100, howToSeeAll: "Answer v." });
    const whole = JSON.stringify({ text }, null, 2).length;
    expect(card).toContain(`[cut: ${whole - 100} of ${whole} characters are not shown. Answer v.]`);
    expect(createCard({ arguments: { text } }, { maxArguments: Number.POSITIVE_INFINITY })).toContain(text);
  });

  it("cannot be forged by text from the model or the service", () => {
    const card = createCard({
      account: "a\u001b[2Jb",
      arguments: { name: "x\u001b]0;title\u0007\u202egnp.exe", text: "line\n  Files:     none" },
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
      title: "Save\n  Effect:    reads only",
      reason: "because\n\n  Tool:      drive_list_files",
      askBefore: ["a\u009b31m"],
    });
    expect(card.replaceAll("\n", "")).not.toMatch(/\p{Cc}|\u202e/u);
    expect(card.match(/^ {2}Files:/gm)).toHaveLength(1);
    expect(card.match(/^ {2}Effect:/gm)).toHaveLength(1);
    expect(card.match(/^ {2}Tool:/gm)).toHaveLength(1);
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
