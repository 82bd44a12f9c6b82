import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { createApprovalCard } from "../../src/plugin/calls/ask/card.ts";
import { canonicalJson } from "../../src/plugin/calls/ask/fingerprint.ts";
import { type ApprovalFile, type ApprovalRequest, createApprovalRequest } from "../../src/plugin/calls/ask/request.ts";
import { createApprovalQuestion } from "../../src/plugin/runtimes/langchain/human-channel.ts";
import { createInterruptPayload } from "../../src/plugin/runtimes/langchain/interrupt-payload.ts";
import { createHostCard, fitLines } from "../../src/plugin/runtimes/openclaw/ask/approval-card.ts";
import { createShownCards, createWaitingCalls } from "../../src/plugin/runtimes/openclaw/ask/ask-state.ts";
import { showWaitingCall } from "../../src/plugin/runtimes/openclaw/commands/decision-commands.ts";
import { FUZZ_FACTOR, fuzzOptions } from "../fuzz/fuzz-options.ts";
import { hostileArguments, similarArguments, trickyText } from "./arguments.ts";
import { lookAt, UNSEEN } from "./look.ts";
import { OWN_LABELS, readArguments, readFacts } from "./read-card.ts";

/** What a human is shown is what would be sent, or says what is missing and where it is. */

const RUNS = fuzzOptions({ runs: 1_000 });
vi.setConfig({ testTimeout: 60_000 * FUZZ_FACTOR });
const CODE = "K7PM2QXA";

function createRequest(args: Record<string, unknown>, more: Partial<ApprovalRequest> = {}): ApprovalRequest {
  const subject = {
    tool: "mail_send_message",
    integration: "mail",
    account: "Work",
    connection: "c1",
    arguments: args,
    files: more.files ?? [],
    effect: "write" as const,
    title: more.title ?? "Send a message",
    description: "Sends it.",
    reason: more.reason ?? "It writes.",
    askBefore: more.askBefore,
    principal: "p",
    id: "one",
  };
  return createApprovalRequest(subject, { now: 0, ttlMs: 1 });
}

/** The arguments a host card shows when it is complete. */
function readHostCard(description: string): Record<string, unknown> {
  const lines = description.split("\n").slice(3, -1);
  const end = lines.findIndex((line) => /^(Why: |File |File: |More: )/.test(line));
  return readArguments(lines.slice(0, end < 0 ? lines.length : end));
}

const showInTerminal = (request: ApprovalRequest) =>
  createApprovalCard(request, { maxRows: 20, howToSeeAll: SEE_ALL }).join("\n");
const showInHost = (request: ApprovalRequest) => createHostCard(request, CODE).card.description;
const showInGraph = (request: ApprovalRequest) => createInterruptPayload([createApprovalQuestion(request)]);
const SEE_ALL = "There is more.";
const SAYS_CUT = /\nThere is more\.|\nNOT COMPLETE: /;
const COUNT = /^\[cut: (?:([\d,]+) of ([\d,]+)|\d+ more, ([\d,]+)) characters\]$/;

describe("the terminal's card", () => {
  it("shows the arguments whole, however narrow it is", () => {
    fc.assert(
      fc.property(hostileArguments, fc.integer({ min: 24, max: 120 }), (args, columns) => {
        const card = createApprovalCard(createRequest(args), { columns, maxRows: Number.POSITIVE_INFINITY });
        const shown = readArguments(readFacts(card).get("Arguments") ?? expect.fail());
        expect(canonicalJson(shown)).toBe(canonicalJson(args));
      }),
      RUNS,
    );
  });

  it("or counts what is missing, never more rows than it may have", () => {
    fc.assert(
      fc.property(hostileArguments, fc.integer({ min: 8, max: 30 }), (args, maxRows) => {
        const request = createRequest(args);
        const all = createApprovalCard(request, { maxRows: Number.POSITIVE_INFINITY });
        const part = createApprovalCard(request, { maxRows, howToSeeAll: SEE_ALL });
        if (!part.includes(SEE_ALL)) {
          expect(part).toEqual(all);
          return;
        }
        expect(part.length).toBeLessThanOrEqual(maxRows + 4);
        const notes = part.flatMap((row) => [COUNT.exec(row)].filter((found) => found !== null));
        const missing = notes.reduce(
          (sum, [, one, , more]) => sum + Number((one ?? more ?? "").replaceAll(",", "")),
          0,
        );
        const count = (card: string[]) => [...readFacts(card)].flatMap(([, values]) => values).join("").length;
        const left = /^\[left out: (.*)\]$/m.exec(part.join("\n"))?.[1]?.split(", ") ?? [];
        const facts = readFacts(all);
        const leftOut = left.flatMap(
          (label) => facts.get(label.charAt(0).toUpperCase() + label.slice(1)) ?? expect.fail(label),
        );
        expect(count(part) + missing + leftOut.join("").length).toBe(count(all));
      }),
      RUNS,
    );
  });

  it("has labels that nobody else can write, and nothing from outside where they stand", () => {
    fc.assert(
      fc.property(hostileArguments, trickyText, trickyText, (args, title, reason) => {
        const request = createRequest(args, { title, reason, askBefore: [reason] });
        const [head, ...card] = createApprovalCard(request, { columns: 40, maxRows: Number.POSITIVE_INFINITY });
        expect(head).toBe("Approval needed");
        expect(card.join("\n")).not.toMatch(UNSEEN);
        for (const row of card) expect(OWN_LABELS).toContain(/^(.{9}) │ /.exec(row)?.[1]?.trim() || "Tool");
        for (const own of OWN_LABELS) {
          expect(card.filter((row) => row.startsWith(own.padEnd(9))).length).toBeLessThanOrEqual(1);
        }
      }),
      RUNS,
    );
  });

  it("counts questions of the service that would push the rest out of sight", () => {
    const card = createApprovalCard(createRequest({}, { askBefore: Array(10_000).fill("Sure?") }));
    expect(card.length).toBeLessThan(30);
    expect(card.join("\n")).toContain("9992 more questions of the service are not shown.");
  });
});

describe("the card of an interrupted graph", () => {
  it("has the arguments whole beside the text, and the text says so where it is cut", () => {
    fc.assert(
      fc.property(hostileArguments, (args) => {
        const [shown] = showInGraph(createRequest(args)).actionRequests;
        expect(canonicalJson(shown?.args)).toBe(canonicalJson(args));
        expect(shown?.description).not.toMatch(UNSEEN);
        expect(shown?.description).toMatch(/^```\n(?:(?!```)[\s\S])*\n```$/);
      }),
      RUNS,
    );
    const [long] = showInGraph(createRequest({ text: "x".repeat(9_000) })).actionRequests;
    expect(long?.description).toMatch(/\nNOT COMPLETE: .*\nRead the arguments beside it .*, or decline\.\n/);
  });
});

describe("the host's card", () => {
  it("has each label once, at the begin of its line, though the host's terminal puts all lines into one", () => {
    const words = fc.constantFrom("to", "bcc", "Check", "NOT COMPLETE", "file name", "Why", "hello", "10", "a.b");
    const between = fc.constantFrom(": ", ":", " : ", "\n", " ", ", ", ":\u00a0");
    const value = fc.array(fc.tuple(words, between), { maxLength: 6 }).map((parts) => parts.flat().join(""));
    const args = fc.record({ to: fc.array(value, { maxLength: 2 }), bcc: value, "file name": value, "a.b": value });
    fc.assert(
      fc.property(args, value, (given, account) => {
        const { description } = createHostCard(createRequest(given, { account }), CODE).card;
        const inOneLine = description.replaceAll(/\s+/g, " ");
        for (const label of ["to", "bcc", '"file name"', "a\\.b", "Check", "NOT COMPLETE", "Why"]) {
          const begins = description.split("\n").filter((line) => new RegExp(`^${label}: `).test(line));
          const seen = inOneLine.match(new RegExp(`(?<!\\w)${label}\\s*:(?= )`, "g")) ?? [];
          expect(seen.length, `${label} in ${inOneLine}`).toBe(begins.length);
        }
      }),
      RUNS,
    );
  });

  const askState = { waitingCalls: createWaitingCalls(), cards: createShownCards() };

  it("shows the arguments whole, or says that it does not; the command it names shows them all", () => {
    fc.assert(
      fc.property(hostileArguments, (args) => {
        const request = createRequest(args);
        const code = askState.cards.add(request, 60_000);
        const { card, isComplete } = createHostCard(request, code);
        const { description } = card;
        expect(description.length).toBeLessThanOrEqual(512);
        expect(description).not.toMatch(UNSEEN);
        expect(description).toMatch(/^\n```\n(?:(?!```)[\s\S])*\n```$/);
        expect(SAYS_CUT.test(description)).toBe(!isComplete);
        if (isComplete) expect(canonicalJson(readHostCard(description))).toBe(canonicalJson(args));
        else expect(description).toContain(`Read /svc show ${code} first`);
        const shown = readFacts(showWaitingCall(askState, code).text.split("\n")).get("Arguments") ?? expect.fail();
        expect(canonicalJson(readArguments(shown))).toBe(canonicalJson(args));
      }),
      RUNS,
    );
  });

  it("says that something is masked, and a text that looks masked is not", () => {
    const masked = showInHost(createRequest({ text: "use svc_live_abcdefghijkl" }));
    expect(masked).not.toContain("abcdefghijkl");
    expect(masked).toContain(`\nNOT COMPLETE: OpenClaw would mask a part. Read /svc show ${CODE} first`);
    expect(showInHost(createRequest({ text: "use svc_live_[redacted]" }))).not.toContain("mask");
  });

  it("fits and counts however much a service asks", () => {
    const askBefore = Array<string>(5_000).fill("Sure?");
    const description = showInHost(createRequest({ text: "x".repeat(5_000) }, { askBefore }));
    expect(description.length).toBeLessThanOrEqual(512);
    expect(description).toMatch(/\nNOT COMPLETE: [\d,]+ characters are missing\. /);
  });

  it("cuts the longest lines to what fits", () => {
    const lines = fc.array(fc.string({ unit: "grapheme", maxLength: 200 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(lines, fc.integer({ min: 60, max: 600 }), (given, budget) => {
        const fitted = fitLines(given, budget);
        const shown = fitted.map((line, index) => (line === given[index] ? line : line.slice(0, -1)));
        for (const [index, line] of shown.entries()) expect(given[index]?.startsWith(line)).toBe(true);
        expect(fitted.join("\n").length + 1).toBeLessThanOrEqual(budget);
      }),
      RUNS,
    );
  });
});

describe.each([
  ["the terminal", showInTerminal],
  ["the host", showInHost],
])("two different calls in %s", (_where, show) => {
  it("never look the same with nothing said to be cut", () => {
    fc.assert(
      fc.property(similarArguments, ([one, other]) => {
        fc.pre(canonicalJson(one) !== canonicalJson(other));
        const [first, second] = [show(createRequest(one)), show(createRequest(other))];
        fc.pre(!SAYS_CUT.test(first) || !SAYS_CUT.test(second));
        expect(lookAt(first)).not.toBe(lookAt(second));
      }),
      fuzzOptions({ runs: 3_000 }),
    );
  });

  const file = (field: string, change: Partial<ApprovalFile> = {}): ApprovalFile => ({
    field,
    name: "a.pdf",
    mimetype: "application/pdf",
    size: 5,
    md5: "0123456789abcdef0123456789abcdef",
    sha256: "01234567".repeat(8),
    reference: "media://inbound/a.pdf",
    ...change,
  });
  const argument = ({ reference, name, mimetype }: ApprovalFile) => ({ s3key: reference, name, mimetype });

  it.each<[string, readonly ApprovalFile[], readonly ApprovalFile[], object?]>([
    ["another digest", [file("a")], [file("a", { md5: `01234567${"f".repeat(24)}` })]],
    ["another size", [file("a")], [file("a", { size: 6 })]],
    ["another place", [file("a")], [file("a", { reference: "media://inbound/b/a.pdf" })]],
    ["two files swapped", [file("a"), file("b", { size: 6 })], [file("a", { size: 6 }), file("b")]],
    ["a name that goes on like the rest", [file("a")], [file("a", { name: "a.pdf, application/pdf" })]],
    ["more in the argument than the file", [file("a")], [file("a")], { a: { ...argument(file("a")), note: "b" } }],
  ])("differ in %s", (_what, one, other, more = {}) => {
    const render = (files: readonly ApprovalFile[], extra: object = {}) =>
      show(
        createRequest(
          { ...Object.fromEntries(files.map((each) => [each.field, argument(each)])), ...extra },
          { files },
        ),
      );
    const [first, second] = [render(one), render(other, more)];
    expect(lookAt(first)).not.toBe(lookAt(second));
  });

  it("differ in the end of a long file name, or say that they are cut", () => {
    const render = (end: string) => {
      const long = file("a", { name: `${"n".repeat(600)}${end}.pdf` });
      return show(createRequest({ a: argument(long) }, { files: [long] }));
    };
    const [first, second] = [render("1"), render("2")];
    expect(lookAt(first) !== lookAt(second) || SAYS_CUT.test(first)).toBe(true);
  });
});
