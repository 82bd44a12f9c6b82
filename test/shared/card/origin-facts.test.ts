import { describe, expect, it } from "vitest";
import { layOutFacts } from "../../../src/shared/card/card-layout.ts";
import { drawOrigins, listOrigins } from "../../../src/shared/card/origin-facts.ts";
import { describeOrigin } from "../../../src/shared/card/origin-words.ts";
import type { Origin } from "../../../src/shared/wire/origin.ts";

const BILLING = { app: "mail", kind: "mail", by: "Billing <pay@examp1e.com>", at: "2026-11-27T09:00:00Z" };

function make(change: Partial<Origin>): Origin {
  return { argument: "to[0]", value: "eve@examp1e.com", kind: "address", origin: "somebody", sink: true, ...change };
}

describe("one origin in words", () => {
  it.each<[string, Partial<Origin>, string]>([
    ["you", { origin: "you" }, "typed by you, as this device says"],
    [
      "a contact",
      { origin: "yours", source: { app: "contacts", kind: "contact", title: "Eve" } },
      'in your contacts, "Eve"',
    ],
    [
      "an own event",
      { origin: "yours", source: { app: "calendar", kind: "event", title: "Tea" } },
      'in an event of yours, "Tea"',
    ],
    ["a note", { origin: "yours", source: { app: "notes", kind: "note" } }, "in a note of yours"],
    ["sent mail", { origin: "yours", source: { app: "mail", kind: "sent mail" } }, "in mail that you sent"],
    ["an unknown own source", { origin: "yours", source: { app: "x", kind: "x" } }, "in data of yours"],
    [
      "a mail",
      { source: BILLING },
      'first seen in a mail by "Billing <pay@examp1e.com>" of 27 Nov 2026; you have never written to it',
    ],
    [
      "a look-alike",
      { source: { app: "mail", kind: "mail" }, looks_like: "eve@example.com" },
      "looks like eve@example.com; first seen in a mail; you have never written to it",
    ],
    ["an answer", { source: { app: "pay", kind: "answer" }, kind: "amount" }, 'first seen in an answer of "pay"'],
    ["a feed", { source: { app: "feeds", kind: "feed", title: "News" } }, 'first seen in a feed "News"'],
    ["another kind", { source: { app: "x", kind: "chat" } }, 'first seen in a source of the kind "chat" of "x"'],
    ["nothing", { origin: "unseen" }, "not seen before"],
    ["a text", { kind: "text", source: { ...BILLING, at: "soon" } }, 'as in a mail by "Billing <pay@examp1e.com>"'],
  ])("of %s", (_, change, words) => {
    expect(describeOrigin(make(change))).toBe(words);
  });

  it("claims no more than was looked at", () => {
    expect(describeOrigin(make({ origin: "unseen" }), "partial")).toBe("not found; not everything could be looked at");
    expect(describeOrigin(make({ origin: "unseen" }), "session")).toMatch(
      /^not in what tools answered in this session;/,
    );
    expect(describeOrigin(make({ source: BILLING }), "partial")).not.toContain("never written");
    const answer = make({ source: { app: "mail", kind: "answer" } });
    expect(describeOrigin(answer, "session")).toBe('from an answer of "mail"');
  });

  it("names letters that only look like others", () => {
    const found = make({ value: "bea@m\u0430rsh.example", looks_like: "bea@marsh.example" });
    expect(describeOrigin(found)).toContain("looks like bea@marsh.example, but holds U+0430; ");
  });
});

describe("origins on a card", () => {
  it("begin with look-alikes and sinks, and put what is the owner's last", () => {
    const { strangers, known, made } = listOrigins({
      origins: [
        make({
          argument: "cc[0]",
          value: "ann@own.example",
          origin: "yours",
          source: { app: "contacts", kind: "contact" },
        }),
        make({ argument: "amount", value: "54000", kind: "amount", sink: false, source: BILLING }),
        make({ argument: "subject", value: "Rent", kind: "name", origin: "unseen", sink: false }),
        make({ argument: "to[1]", value: "new@x.example", origin: "unseen" }),
        make({ source: BILLING, looks_like: "eve@example.com" }),
        make({ argument: "body", value: "Please pay at once", kind: "text", sink: false, source: BILLING }),
        make({ argument: "body", value: "I wrote this", kind: "text", sink: false, origin: "unseen" }),
        make({ argument: "due", value: "2026-12-01", kind: "date", sink: false, origin: "you" }),
      ],
    });
    expect(strangers).toEqual([
      expect.stringMatching(/^eve@examp1e\.com: looks like eve@example\.com; first seen in a mail by "Billing/),
      "new@x.example: not seen before",
      '54000 (amount): first seen in a mail by "Billing <pay@examp1e.com>" of 27 Nov 2026',
      '1 sentence (body): as in a mail by "Billing <pay@examp1e.com>" of 27 Nov 2026',
    ]);
    expect(made).toEqual(["Rent (subject): not seen before"]);
    expect(known).toEqual(["ann@own.example: in your contacts", "typed by you, as this device says: 1 value"]);
  });

  it("count what the owner has, however much that is", () => {
    const own = Array.from({ length: 30 }, (_, at) =>
      make({ argument: `x${at}`, value: `V${at}`, kind: "name", origin: "yours", sink: false }),
    );
    const none = { strangers: [], moreStrangers: [], made: [] };
    expect(listOrigins({ origins: own })).toEqual({ ...none, known: ["yours: 30 values"] });
    const { first, last } = drawOrigins({ origins: own });
    expect([first, last]).toEqual([[], [expect.objectContaining({ label: "Known", isBoilerplate: true })]]);
  });

  it("give each source a line before any takes two, say what is left, and show that further down", () => {
    const many = Array.from({ length: 40 }, (_, at) =>
      make({ argument: `to[${at}]`, value: `a${at}@x.example`, source: BILLING }),
    );
    const other = make({ argument: "bcc", value: "eve@evil.example", source: { ...BILLING, by: "Eve" } });
    const { strangers, moreStrangers } = listOrigins({ origins: [...many, other] });
    expect(strangers).toHaveLength(6);
    expect(strangers[0]).toMatch(/^a0@x\.example, a1@x\.example, a2@x\.example, a3@x\.example: first seen/);
    expect(strangers[1]).toMatch(/^eve@evil\.example: first seen in a mail by "Eve"/);
    expect(strangers.at(-1)).toBe("and 6 more lines of values that are not yours");
    expect(moreStrangers).toHaveLength(6);
    const all = [...strangers, ...moreStrangers].join("\n");
    for (const { value } of [...many, other]) expect(all).toContain(value);
  });

  it("are on the first rows where little fits", () => {
    const { first } = drawOrigins({ origins: [make({ source: BILLING })] });
    const long = { label: "Arguments", values: [{ line: `body: ${"word ".repeat(2_000)}` }] };
    const { rows } = layOutFacts([{ label: "In short", values: [{ line: "Send a mail" }] }, ...first, long], {
      columns: 80,
      rows: 10,
    });
    expect(rows[1]).toMatch(/^Origin {4}│ eve@examp1e\.com: first seen in a mail by/);
  });

  it("draw nothing where nobody looked", () => {
    expect(drawOrigins({})).toEqual({ first: [], last: [] });
  });
});

describe("a stranger who writes like the card", () => {
  const HOSTILE = [
    "x: typed by you, as this device says",
    "a@b.example: in your contacts; c",
    "x\nKnown     │ yours: 9 values",
    '"; yours: all',
    "x\u202e\u2028\u200b\u0000",
    "you, as this device says",
    "x".repeat(10_000),
    "```",
  ];

  it.each(HOSTILE.map((text, at) => [at, text] as const))("stays one quoted value: %i", (_, text) => {
    for (const origin of [
      make({ value: text, kind: "name", argument: text }),
      make({ value: text, kind: "link" }),
      make({ source: { app: text, kind: text, by: text, title: text, at: text }, looks_like: text }),
      make({ origin: "yours", source: { app: text, kind: "note", title: text } }),
    ]) {
      const { strangers, known } = listOrigins({ origins: [origin] }, /(?<=``)`/g);
      const [line = "", ...others] = [...strangers, ...known];
      expect(others).toEqual([]);
      expect(line).not.toMatch(/[\p{Cc}\p{Cf}\u2028│]|```/u);
      expect(line.length).toBeLessThan(1_500);
      // Without what stands in quotes, only words of ours are left.
      const ours = line.replaceAll(/"(?:[^"\\]|\\.)*"/g, "…");
      expect(ours).not.toMatch(/typed by you|yours: |Known/);
      if (strangers.length > 0) expect(ours).not.toContain("in your contacts");
    }
  });
});
