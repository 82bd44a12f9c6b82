import fc from "fast-check";
import { expect, test } from "vitest";
import { nameInNote } from "../../../src/service/notify/name-in-note.ts";

const name = (text: string) => nameInNote(text, 80);

test.each([
  "Laptop",
  "Ana's phone",
  "Dr. Smith, desk",
  "Save a file (2)",
  "Büro München",
  "台所のパソコン",
  "Кухня",
  "مكتب",
  "הבית",
  "e\u0301te\u0301",
])("a usual name stays as it is: %s", (text) => {
  expect(name(text)).toBe(text);
});

test.each([..."“”„‟«»‹›❝❞❛❜〝〞〟＂″‶ʺˮ˝ʼꞌꞋ״׳ᐦᑊǀ‖`´'\"", "''", ",,"])(
  "nothing that looks like a quote ends ours: %s",
  (sign) => {
    const shown = name(`Laptop${sign} asks for ${sign}Read your mail${sign}. X`);
    expect(shown).not.toContain(sign.at(0));
    expect(shown).toContain(`\\u{${sign.codePointAt(0)?.toString(16)}}`);
  },
);

test.each([
  "https://bank.example/login",
  "bank.example/login",
  "bank.example",
  "www.bank.example",
  "10.0.0.1",
  "tel:+491512345",
  "mailto:me@bank.example",
  "me@bank.example",
  "bank.example⁄login",
  "bank。example",
  "javascript:alert",
])("no address is one any more: %s", (address) => {
  expect(name(address)).not.toMatch(/[:/@⁄。+]|\w\.\w/u);
});

test("whatever a name has, it is one line of letters, digits, blanks and few signs", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 100 }), (text) => {
      const shown = name(text).replaceAll(/\\u\{[0-9a-f]+\}/g, "");
      expect(shown).toMatch(/^(?:[\p{Lu}\p{Ll}\p{Lt}\p{Lo}\p{M}0-9 _()&!?-]|\.(?= |$)|,(?= |$)|'|\.)*$/u);
      expect(shown).not.toMatch(/[“”„‟«»‹›❝❞〝〞"`]/);
    }),
    { seed: 20_261_128, numRuns: 2000 },
  );
});
