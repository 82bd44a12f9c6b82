import { describe, expect, test } from "vitest";
import { ExactNumber, markJson, parseExactly, toDoubles, unmarkJson } from "../../../src/shared/base/exact-number.ts";
import { cloneJson, isRecord, parseJson } from "../../../src/shared/base/json.ts";

describe("numbers keep their digits", () => {
  test.each([
    "9007199254740993",
    "-9007199254740993",
    "9007199254740992",
    "12345678901234567890",
    "170141183460469231731687303715884105727",
    "0.1234567890123456789",
    "1234567890123456.789",
    "-0.00000012345678901234567890",
    "1e400",
    "-1E+400",
    "1e-400",
    "9007199254740993.0",
  ])("%s is written as it was", (text) => {
    for (const json of [text, `[${text}]`, `{"a":${text}}`, `{"a":[1,${text},"x"]}`]) {
      expect(JSON.stringify(parseExactly(json))).toBe(json);
      expect(JSON.stringify(cloneJson(parseJson(json)))).toBe(json);
    }
    const value = parseExactly(text);
    expect(value).toBeInstanceOf(ExactNumber);
    expect(`${value}`).toBe(text);
    expect(isRecord(value)).toBe(false);
    expect(toDoubles({ a: [value] })).toEqual({ a: [Number(text)] });
  });

  test.each([
    "0",
    "-1",
    "1.50",
    "100000000000000000000000",
    "6.02214076e23",
    "1e21",
    "1e-7",
    "0.30000000000000004",
    "9007199254740991",
    "1.7976931348623157e308",
    "0.000000000000000000000",
    "52.374030000000000000",
    "0e500",
  ])("%s is a plain number", (text) => {
    expect(parseExactly(`{ "a" : ${text} }`)).toEqual({ a: Number(text) });
  });

  test("text is no number, whatever it looks like, and what is no JSON is refused", () => {
    const text = { a: "9007199254740993", b: "x: 9007199254740993, 1e400 ]", c: "550e8400" };
    expect(parseExactly(JSON.stringify(text))).toEqual(text);
    for (const json of ["NaN", "[01234567890123456789]", "9007199254740993x", "1e400 1", "+1e400", ""])
      expect(() => parseExactly(json)).toThrow(SyntaxError);
  });

  test("what holds no such number is not copied, names such as __proto__ stay members", () => {
    const plain = { a: [1, { b: "x" }], c: null };
    expect(toDoubles(plain)).toBe(plain);
    const odd = parseExactly('{"__proto__":{"a":9007199254740993}}');
    expect(JSON.stringify(odd)).toBe('{"__proto__":{"a":9007199254740993}}');
    expect(JSON.stringify(toDoubles(odd))).toBe('{"__proto__":{"a":9007199254740992}}');
  });
});

describe("names with escapes", () => {
  // nodejs/node#63785: after an object with the name "\\", V8 reads other names that begin with an escape as it.
  const names = ['"', "\n", "\\", "/", "\\\\", '\\"', "a\\", 'a"', "\u0001", "\ud800", "😀\n", "__proto__\n", ""];

  test("a name is itself after objects with any other names", () => {
    for (const first of names)
      for (const second of names)
        for (const [earlier, later] of [
          [first, second],
          [second, first],
        ] as const) {
          const json = JSON.stringify({ h: 1, [later]: 9007199254740992, nested: [{ [later]: null }] });
          JSON.parse(JSON.stringify({ h: [], [earlier]: 0 }));
          JSON.parse(JSON.stringify({ [earlier]: 0 }));
          expect(JSON.stringify(parseExactly(json))).toBe(json);
          expect(JSON.stringify(unmarkJson(JSON.parse(markJson(json))))).toBe(json);
        }
  });

  test("the last of two equal names counts, an escaped __proto__ is a member, integers come first", () => {
    expect(JSON.stringify(parseExactly('{"\\u0062":1,"a":2,"b":3,"\\u0031":4}'))).toBe('{"1":4,"b":3,"a":2}');
    expect(JSON.stringify(parseExactly('{"\\u005f_proto__":{"a":1}}'))).toBe('{"__proto__":{"a":1}}');
  });

  test.each([
    '{"\\x":1}',
    '{"a\\":1}',
    '{"\\n":1.2.3}',
    '{"\\n":1,9007199254740993:2}',
    '{"\\n":09007199254740993}',
    '["\\n":1]',
    '{"\\n":1,}',
    '{"\\n\n":1}',
  ])("%j is refused", (text) => {
    expect(() => parseExactly(text)).toThrow(SyntaxError);
    expect(() => JSON.parse(markJson(text))).toThrow(SyntaxError);
  });
});
