import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { canonicalJson } from "../../src/plugin/calls/ask/fingerprint.ts";
import { dataView } from "../../src/service/http/pages/values.ts";
import { APPROVAL, askApproval } from "../../src/service/mcp/tools/execution-tools.ts";
import { FUZZ_FACTOR, fuzzOptions } from "../fuzz/fuzz-options.ts";
import { hostileArguments, similarArguments, trickyText } from "./arguments.ts";
import { lookAt, UNSEEN } from "./look.ts";
import { createOpenApp } from "./model/open-app.ts";
import { readArguments, readFacts } from "./read-card.ts";

/** What the service itself puts before a human: the form an MCP client shows, and the pages. */

vi.setConfig({ testTimeout: 60_000 * FUZZ_FACTOR });

const { integration } = createOpenApp();
const action = integration.actions.find(({ id }) => id === "change") ?? expect.fail();

function readForm(input: Record<string, unknown>, askBefore: readonly string[] = []): string {
  const entry = { toolName: "open_change", integration, action: { ...action, askBefore } };
  const params = askApproval({ entry, input, account: "First" })[APPROVAL]?.params;
  return String((params as { message?: unknown } | undefined)?.message);
}

/** Arguments as they stand in the form. */
const readInput = (message: string) => readFacts(message.split("\n")).get("Arguments") ?? expect.fail();

describe("the form of an MCP client", () => {
  it("shows the input whole", () => {
    fc.assert(
      fc.property(hostileArguments, trickyText, (input, question) => {
        const message = readForm(input, [question]);
        expect(message).not.toMatch(UNSEEN);
        expect(message).toMatch(/^```\n(?:(?!```)[\s\S])*\n```/);
        expect(canonicalJson(readArguments(readInput(message)))).toBe(canonicalJson(input));
        expect(message).toMatch(/\nApprove\? {2}│ open_change, write, First\n```/);
      }),
      fuzzOptions({ runs: 800 }),
    );
  });

  it("shows a long input whole, too", () => {
    fc.assert(
      fc.property(fc.nat(3), fc.integer({ min: 3_900, max: 9_000 }), trickyText, (start, length, end) => {
        const input = { text: `${"a".repeat(start)}${"😀x".repeat(length / 3)}${end.toWellFormed()}` };
        expect(readArguments(readInput(readForm(input)))).toEqual(input);
      }),
      fuzzOptions({ runs: 100 }),
    );
  });

  it("never looks the same for two different inputs", () => {
    fc.assert(
      fc.property(similarArguments, ([one, other]) => {
        fc.pre(canonicalJson(one) !== canonicalJson(other));
        expect(lookAt(readForm(one))).not.toBe(lookAt(readForm(other)));
      }),
      fuzzOptions({ runs: 1_000 }),
    );
  });
});

describe("the pages", () => {
  /** What stands on the page, opened or not; marks of structure kept. */
  const read = (value: unknown) => String(dataView(value));
  const readText = (value: unknown) =>
    read(value)
      .replaceAll(/<summary>.*?<\/summary>|<[^>]*>/gs, "")
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&quot;", '"')
      .replaceAll("&#39;", "'")
      .replaceAll("&amp;", "&");

  it("show no text that hides or moves anything, and no markup of others", () => {
    fc.assert(
      fc.property(hostileArguments, (value) => {
        const page = read({ ...value, html: "<img src=x onerror=alert(1)>" });
        expect(page.replaceAll("\t", " ")).not.toMatch(UNSEEN);
        expect(page).not.toContain("<img");
      }),
      fuzzOptions({ runs: 500 }),
    );
  });

  it("hold all of a long text and a long list, the rest to be opened", () => {
    const text = Array.from({ length: 3_000 }, (_, index) => `word${index}`).join(" ");
    expect(readText(text)).toBe(text);
    expect(read(text)).toMatch(/<details><summary>\d+ more characters<\/summary>/);
    const list = Array.from({ length: 300 }, (_, index) => ({ name: `entry${index}.` }));
    for (const { name } of list) expect(read(list)).toContain(name);
    expect(read(list)).toContain("<details><summary>250 more</summary>");
  });

  it("keep apart what is not the same: texts, nothing, empty ones, lists", () => {
    const texts = fc.array(trickyText, { maxLength: 3 });
    fc.assert(
      fc.property(texts, texts, (one, other) => {
        fc.pre(
          canonicalJson(one.map((text) => text.toWellFormed())) !==
            canonicalJson(other.map((text) => text.toWellFormed())),
        );
        fc.pre(![...one, ...other].some((text) => text.includes("\\") || /^\s|\s$|\s\s/.test(text)));
        expect(lookAt(read({ one }))).not.toBe(lookAt(read({ one: other })));
      }),
      fuzzOptions({ runs: 800 }),
    );
    const looks = [null, "", [], {}, "none", ["a, b"], ["a", "b"]].map((value) => lookAt(read({ value })));
    expect(new Set(looks).size).toBeGreaterThanOrEqual(6);
  });
});
