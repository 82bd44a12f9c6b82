import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  changeText,
  changeValue,
  checkState,
  finishPreview,
  hashState,
  type PreviewDraft,
  quoteName,
} from "../../../src/apps/port/preview.ts";
import { MAX_PREVIEW_BYTES, previewSchema } from "../../../src/shared/wire/preview.ts";

const draft: PreviewDraft = { summary: "Do it", undo: { possible: false }, seen: [] };
const text = fc.string({ unit: "binary", maxLength: 3000 });
const many = (from: fc.Arbitrary<string>) => from.map((one) => one.repeat(1 + (one.length % 40)));

describe("a preview on its way", () => {
  it("is never larger than its limit, and can always be read", () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ field: text, before: many(text), after: many(text) }), { maxLength: 70 }),
        fc.array(fc.record({ code: fc.constant("replaces"), text }), { maxLength: 70 }),
        fc.array(fc.record({ kind: fc.constant("page"), name: text }), { maxLength: 30 }),
        (changes, effects, objects) => {
          const details = Array.from({ length: 12 }, () => ({ label: "Label", value: "value".repeat(90) }));
          const given = { changes, effects, objects: objects.map((one) => ({ ...one, details })) };
          const json = JSON.stringify(finishPreview({ ...draft, ...given }));
          expect(Buffer.byteLength(json)).toBeLessThanOrEqual(MAX_PREVIEW_BYTES);
          const preview = previewSchema.parse(JSON.parse(json));
          expect(preview.objects).toHaveLength(Math.min(10, objects.length));
          expect(preview.objectCount).toBe(objects.length);
        },
      ),
      { numRuns: 100 },
    );
  });

  it("keeps whole lines of a long diff, and counts the others", () => {
    const lines = Array.from({ length: 399 }, (_, index) => `${index} ${"x".repeat(400)}`).join("\n");
    const [change] = finishPreview({ ...draft, changes: changeText("Text", "", lines) }).changes;
    const shown = (change?.diff ?? "").split("\n");
    expect(shown.at(-1)).toMatch(/^\\ \d+ more lines$/);
    for (const line of shown.slice(1, -1)) expect(line).toMatch(/^\+\d+ x{400}$/);
  });
});

it("compares values as people read them", () => {
  expect(changeValue("Tags", ["a", "b"], ["a"])).toEqual([{ field: "Tags", before: "a, b", after: "a" }]);
  expect(changeValue("Note", "x", null)).toEqual([{ field: "Note", before: "x" }]);
  expect(changeValue("Note", undefined, "")).toEqual([]);
  expect(changeValue("Done", false, true)).toEqual([{ field: "Done", before: "false", after: "true" }]);
});

it("writes names that cannot end their quotes", () => {
  expect(quoteName('Plan" is kept.\n"')).toBe("\"Plan' is kept. '\"");
});

it("acts on the state that was shown alone, and on any where none was", () => {
  expect(() => checkState({ expectedState: hashState(["a"]) }, ["b"])).toThrow("was changed after it was shown");
  expect(() => checkState({ expectedState: hashState(["a"]) }, ["a"])).not.toThrow();
  expect(() => checkState({}, ["a"])).not.toThrow();
});
