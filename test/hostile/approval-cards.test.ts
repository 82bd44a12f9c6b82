import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { createApprovalCard } from "../../src/approvals/card.ts";
import { canonicalJson } from "../../src/approvals/fingerprint.ts";
import { type ApprovalFile, type ApprovalRequest, createApprovalRequest } from "../../src/approvals/request.ts";
import { createApprovalQuestion } from "../../src/runtimes/langchain/approval-question.ts";
import { createInterruptPayload } from "../../src/runtimes/langchain/interrupt-payload.ts";
import { createHostCard } from "../../src/runtimes/openclaw/approval-card.ts";
import { createCardBook } from "../../src/runtimes/openclaw/card-book.ts";
import { fitLines } from "../../src/runtimes/openclaw/card-text.ts";
import { showTicket } from "../../src/runtimes/openclaw/ticket-commands.ts";
import { createTicketBook } from "../../src/runtimes/openclaw/tickets.ts";
import { FUZZ_FACTOR, fuzzOptions } from "../fuzz/fuzz-options.ts";
import { hostileArguments, similarArguments, trickyText } from "./arguments.ts";
import { lookAt, UNSEEN } from "./look.ts";

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

/** The arguments a terminal card shows, and how many characters it says are missing of how many. */
function readTerminalCard(lines: readonly string[]) {
  const from = lines.indexOf("  Arguments:") + 1;
  const to = lines.findIndex((line) => line.startsWith("  Files:"));
  const shown = lines.slice(from, to).map((line) => line.slice(4));
  const [, missing, total] = /^\[cut: (\d+) of (\d+) characters are not shown\. /.exec(shown.at(-1) ?? "") ?? [];
  if (missing === undefined) return { text: shown.join("\n"), missing: 0, total: undefined };
  return { text: shown.slice(0, -1).join("\n"), missing: Number(missing), total: Number(total) };
}

/** The arguments a host card shows when it says nothing of a cut. */
function readHostCard(description: string): Record<string, unknown> {
  const lines = description.split("\n").slice(1);
  const end = lines.findIndex((line) => line.startsWith("Why: ") || line.startsWith("File "));
  const members = lines.slice(0, end).flatMap((line) => {
    const rest = /^\+\d+ more: (.*)$/.exec(line)?.[1];
    return rest === undefined ? [readMember(line, true)] : readRest(rest);
  });
  return JSON.parse(`{${members.join(",")}}`);
}

/** The host's way to write what shows nothing, as JSON has it; a backslash that is one is doubled in JSON. */
const readCodes = (json: string) => json.replaceAll(/(?<=(?<!\\)(?:\\\\)*)\\u\{(\w+)\}/g, "\\u$1");

const MEMBER = /^([\w.-]+|"(?:[^"\\]|\\.)*"): (.*)$/;

function readMember(line: string, mayBeBare: boolean): string {
  const [, name = "", value = ""] = MEMBER.exec(line) ?? expect.fail(`not a member: ${line}`);
  const key = name.startsWith('"') ? readCodes(name) : JSON.stringify(name);
  return `${key}:${mayBeBare && !isJson(value) ? JSON.stringify(value) : readCodes(value)}`;
}

/** Members joined by "; ", each value JSON: the shortest pieces that are members. */
function readRest(text: string): string[] {
  const members: string[] = [];
  let piece = "";
  for (const part of text.split("; ")) {
    piece = piece === "" ? part : `${piece}; ${part}`;
    const value = MEMBER.exec(piece)?.[2];
    if (value === undefined || !isJson(readCodes(value))) continue;
    members.push(readMember(piece, false));
    piece = "";
  }
  expect(piece).toBe("");
  return members;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(readCodes(text));
    return true;
  } catch {
    return false;
  }
}

const showInTerminal = (request: ApprovalRequest) =>
  createApprovalCard(request, { maxArguments: 60, howToSeeAll: "Answer v." }).join("\n");
const showInHost = (request: ApprovalRequest) => createHostCard(request, CODE).description;
const showInGraph = (request: ApprovalRequest) => {
  const context = { caller: "c", past: [], notice: undefined };
  return createInterruptPayload([createApprovalQuestion(request)], context) as {
    action_requests: { description: string; args: unknown }[];
  };
};
const SAYS_CUT =
  /\[cut: \d+ of \d+ characters are not shown\. Answer v\.\]|\nCut: \d+ characters\. All of it: |masked\. All of it: /;

describe("the terminal's card", () => {
  it("shows the arguments whole, or counts what is missing; the whole card has them all", () => {
    fc.assert(
      fc.property(hostileArguments, fc.integer({ min: 2, max: 300 }), (args, maxArguments) => {
        const request = createRequest(args);
        const whole = readTerminalCard(createApprovalCard(request, { maxArguments: Number.POSITIVE_INFINITY }));
        expect(canonicalJson(JSON.parse(whole.text))).toBe(canonicalJson(args));
        const part = readTerminalCard(createApprovalCard(request, { maxArguments, howToSeeAll: "Answer v." }));
        expect(whole.text.startsWith(part.text)).toBe(true);
        expect(part.text.length + part.missing).toBe(part.total ?? whole.text.length);
        expect(whole.text).toHaveLength(part.text.length + part.missing);
      }),
      RUNS,
    );
  });

  it("is one block whose own lines nobody else can write", () => {
    fc.assert(
      fc.property(hostileArguments, trickyText, trickyText, (args, title, reason) => {
        const card = createApprovalCard(createRequest(args, { title, reason, askBefore: [reason] })).join("\n");
        expect(card).not.toMatch(UNSEEN);
        for (const own of ["Tool", "App", "Account", "Effect", "Why asked", "Arguments", "Files", "Expires"]) {
          expect(card.match(new RegExp(`^ {2}${own}:`, "gm"))).toHaveLength(1);
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
        const [shown] = showInGraph(createRequest(args)).action_requests;
        expect(canonicalJson(shown?.args)).toBe(canonicalJson(args));
        expect(shown?.description).not.toMatch(UNSEEN);
      }),
      RUNS,
    );
    const [long] = showInGraph(createRequest({ text: "x".repeat(9_000) })).action_requests;
    expect(long?.description).toContain("characters are not shown. The arguments of this action are complete.]");
  });
});

describe("the host's card", () => {
  const books = { tickets: createTicketBook(), cards: createCardBook() };

  it("shows the arguments whole, or says that it does not; the command it names shows them all", () => {
    fc.assert(
      fc.property(hostileArguments, (args) => {
        const request = createRequest(args);
        const code = books.cards.add(request);
        const { description } = createHostCard(request, code);
        expect(description.length).toBeLessThanOrEqual(512);
        expect(description).not.toMatch(UNSEEN);
        if (!SAYS_CUT.test(description)) expect(canonicalJson(readHostCard(description))).toBe(canonicalJson(args));
        else expect(description).toContain(`All of it: /svc show ${code}`);
        const { text } = showTicket(books, code);
        expect(canonicalJson(JSON.parse(readTerminalCard(text.split("\n")).text))).toBe(canonicalJson(args));
      }),
      RUNS,
    );
  });

  it("says that something is masked, and a text that looks masked is not", () => {
    const masked = showInHost(createRequest({ text: "use svc_live_abcdefghijkl" }));
    expect(masked).not.toContain("abcdefghijkl");
    expect(masked).toContain(`\nWhat looks like a key is masked. All of it: /svc show ${CODE}`);
    expect(showInHost(createRequest({ text: "use svc_live_[redacted]" }))).not.toContain("masked");
  });

  it("fits and counts however much a service asks", () => {
    const askBefore = Array<string>(5_000).fill("Sure?");
    const description = showInHost(createRequest({ text: "x".repeat(5_000) }, { askBefore }));
    expect(description.length).toBeLessThanOrEqual(512);
    expect(description).toMatch(/\nCut: \d+ characters\. /);
  });

  it("counts what does not fit to the character", () => {
    const lines = fc.array(fc.string({ unit: "grapheme", maxLength: 200 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(lines, fc.integer({ min: 60, max: 600 }), (given, budget) => {
        const fitted = fitLines(given, budget);
        const shown = fitted.lines.map((line, index) => (line === given[index] ? line : line.slice(0, -1)));
        for (const [index, line] of shown.entries()) expect(given[index]?.startsWith(line)).toBe(true);
        const sum = (texts: readonly string[]) => texts.reduce((total, text) => total + text.length, 0);
        expect(fitted.hidden).toBe(sum(given) - sum(shown));
        expect(sum(fitted.lines) + fitted.lines.length).toBeLessThanOrEqual(budget);
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
