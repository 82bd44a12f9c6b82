import { describe, expect, test } from "vitest";
import type { CatalogEntry } from "../../../src/service/catalog/catalog-entry.ts";
import { checkArguments } from "../../../src/service/executions/read-requests.ts";
import { entryWith, refusal } from "./refused-arguments.ts";

describe("lines that say what is wrong", () => {
  test.each([
    [{ a: { type: "string" } }, { a: 1 }, "a: expected string, got number 1"],
    [{ a: { type: ["string", "null"] } }, { a: 1 }, "a: expected string or null, got number 1"],
    [{ a: { enum: ["x", "y"] } }, { a: "z" }, 'a: expected one of "x", "y", got string "z"'],
    [{ a: { anyOf: [{ type: "string" }, { type: "null" }] } }, { a: 1 }, "a: expected string or null, got number 1"],
    [{ a: { type: "integer", maximum: 5 } }, { a: 9 }, "a: expected number of at most 5, got number 9"],
    [{ a: { type: "string", format: "email" } }, { a: "x" }, 'a: expected string in the format email, got string "x"'],
    [{}, { "\ud800": 1 }, "arguments: has a member name that is not well-formed Unicode"],
    [{}, { "100%": 1 }, "100%: expected no value here, got number 1"],
    [{}, { "a/b": 1 }, "a/b: expected no value here, got number 1"],
    [
      { a: { type: "array", items: { $ref: "#/$defs/i" } } },
      { a: [{ n: 1 }, {}] },
      "a[1].n: is required and missing, expected value",
    ],
  ] as [Record<string, unknown>, unknown, string | RegExp][])("%j with %j", (properties, args, line) => {
    const defs = { $defs: { i: { type: "object", required: ["n"] } } };
    const { status, code, options } = refusal(entryWith(properties, defs), args);
    expect([status, code]).toEqual([400, "invalid_arguments"]);
    expect(options.details).toHaveLength(1);
    expect(options.details?.[0]).toMatch(line);
  });

  test.each([[undefined], [null], ["{}"], [[]], [3]])("arguments as %j", (args) => {
    expect(refusal(entryWith({}), args).message).toMatch(/^arguments: expected object, got /);
  });
});

describe("a schema that nothing can be checked by", () => {
  const nest = (levels: number): unknown => {
    let schema: unknown = { type: "string" };
    for (let level = 0; level < levels; level += 1) schema = { allOf: [schema] };
    return schema;
  };

  test.each([
    ["a name that is not well-formed Unicode", { "a\ud800": { type: "string" } }],
    ["more levels than can be read", { a: nest(20_000) }],
  ])("is the fault of the app, and not of the call: %s", (_what, properties) => {
    const { status, code, message, options } = refusal(entryWith(properties), { a: "x" });
    expect([status, code, options.type]).toEqual([422, "integration_misconfigured", "configuration"]);
    expect(message).toContain("cannot be checked");
    expect(options.cause).toBeInstanceOf(Error);
  });
});

test.each(["#/$defs/nowhere", "http://["])("a reference that leads nowhere (%s) leaves the rest checked", ($ref) => {
  const entry = entryWith({ a: { $ref }, b: { type: "integer" } });
  expect(checkArguments(entry, { a: "x", b: 1 })).toBeTruthy();
  expect(refusal(entry, { a: "x", b: "y" }).options.extra).toMatchObject({ invalidFields: ["b"] });
});

test("a part that has the name of another is checked by itself", () => {
  const entry = entryWith({ a: { $id: "x", type: "string" }, b: { $id: "x", type: "integer" } });
  expect(checkArguments(entry, { a: "x", b: 1 })).toBeTruthy();
  expect(refusal(entry, { a: "x", b: "y" }).options.extra).toMatchObject({ invalidFields: ["b"] });
});

describe("more problems than anybody reads", () => {
  const entry = entryWith({ a: { type: "array", items: { type: "string" } } });

  test("are named up to a hundred", () => {
    const unknown = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`k${index}`, 1]));
    const { status, options } = refusal(entry, unknown);
    expect([status, options.details?.length]).toEqual([400, 100]);
    expect(options.extra?.invalidFields).toHaveLength(100);
  });

  test("are a refusal still when the validator cannot count them", () => {
    const { status, code } = refusal(entry, { a: Array(200_000).fill(1) });
    expect([status, code]).toEqual([400, "invalid_arguments"]);
  });
});

describe("what a caller sent", () => {
  const long = "n".repeat(4_000_000);
  const open = entryWith({}, { additionalProperties: { type: "object", additionalProperties: { type: "string" } } });

  test.each([
    ["a name", entryWith({}), { [long]: 1 }, /^n+…: (expected no value here, got number 1|takes too long to check)$/],
    [
      "names that are written long",
      entryWith({}),
      { ["😀é".repeat(1_000_000)]: 1 },
      /^(😀é)+😀?…: (expected no value here, got number 1|takes too long to check)$/u,
    ],
    [
      "names below each other",
      open,
      { [long]: { [long]: 1 } },
      /^n+…: (expected string, got number 1|takes too long to check)$/,
    ],
    [
      "names below each other that are written long",
      open,
      { ["😀é".repeat(600_000)]: { ["😀é".repeat(600_000)]: 1 } },
      /^(😀é)+😀?…: (expected string, got number 1|takes too long to check)$/u,
    ],
    [
      "a path to what is missing",
      entryWith({ a: { required: [long] } }),
      { a: {} },
      /^a\.n+…: is required and missing, expected value$/,
    ],
    [
      "a name that a rule is about",
      entryWith({ a: { propertyNames: { maxLength: 3 } } }),
      { a: { [long]: 1 } },
      /^a(\.n+…: expected string of at most 3 characters, got number 1|: takes too long to check)$/,
    ],
    [
      "a name beside a placeholder",
      entryWith({}, { additionalProperties: true }),
      { [long]: "<id>" },
      /n… is still the/,
    ],
  ] as [string, CatalogEntry, unknown, RegExp][])("is repeated only in part: %s", (_what, entry, args, line) => {
    const { message, options } = refusal(entry, args);
    expect(options.details).toEqual([expect.stringMatching(line)]);
    expect(message.length + JSON.stringify(options).length).toBeLessThan(25_000);
  });

  test("below a long name is not looked at without end", () => {
    const names = Array.from({ length: 9_000 }, (_, index) => [`k${index}`, 1] as const);
    const { options } = refusal(open, { [long]: Object.fromEntries(names) });
    expect(options.details).toEqual([
      expect.stringMatching(/^n+…: (expected string, got number 1|takes too long to check)$/),
    ]);
  });

  test("below a long name is not repeated with it for every placeholder", () => {
    const entry = entryWith({}, { additionalProperties: true });
    const { options } = refusal(entry, { [long]: Array(9_000).fill("<id>") });
    expect(options.details).toEqual([expect.stringMatching(/^arguments\.n+… is still the placeholder <id>$/)]);
  });

  test("is named twenty times at most as a placeholder", () => {
    const entry = entryWith({ a: {} });
    const { options } = refusal(entry, { a: Array(300).fill("<id>") });
    expect(options.details).toHaveLength(20);
    expect(options.extra?.invalidFields).toHaveLength(20);
  });
});

describe("a problem that a schema names more than once", () => {
  const text = { type: "string" };
  const twice = { $ref: "#/$defs/text", allOf: Array(200).fill({ $ref: "#/$defs/text" }), ...text };
  const closed = { type: "object", properties: { n: text }, unevaluatedProperties: false };

  test.each([
    [
      "in references",
      { a: twice, b: text },
      { a: 1, b: 2 },
      ["a: expected string, got number 1", "b: expected string, got number 2"],
    ],
    [
      "in references of an alternative",
      { a: { anyOf: [twice, twice] } },
      { a: 1 },
      ["a: expected string, got number 1"],
    ],
    [
      "as one that was not evaluated",
      { a: closed },
      { a: { more: 1 } },
      ["a.more: expected no such key (known: n), got number 1"],
    ],
    [
      "as a name and as its rule",
      { a: { propertyNames: { pattern: "^x" } } },
      { a: { y: 1 } },
      ["a.y: expected string matching ^x, got number 1"],
    ],
  ] as [string, Record<string, unknown>, unknown, string[]][])(
    "is told once: %s",
    (_where, properties, args, lines) => {
      const { options } = refusal(entryWith(properties, { $defs: { text } }), args);
      expect(options.details).toEqual(lines);
    },
  );
});

describe("file fields", () => {
  const strict = { type: "object", required: ["s3key"], properties: { s3key: { minLength: 99 } } };

  test.each([
    [{ f: { ...strict, file_uploadable: true } }, { f: { path: "/x" } }],
    [{ f: { type: "array", items: { ...strict, file_uploadable: true } } }, { f: [{ s3key: "<p>" }] }],
    [{ f: { type: ["object", "null"], file_uploadable: true } }, { f: null }],
    [{ f: { type: "object", required: ["size"], properties: { name: {}, mimetype: {}, s3key: {} } } }, { f: {} }],
  ])("%j takes any object", (properties, args) => {
    expect(checkArguments(entryWith(properties), args)).toEqual(args);
  });

  test("but nothing else", () => {
    expect(refusal(entryWith({ f: { type: "object", file_uploadable: true } }), { f: "/x" }).options.details).toEqual([
      'f: expected object, got string "/x"',
    ]);
  });
});

describe("placeholders", () => {
  const entry = entryWith({ a: {}, b: {} });

  test.each(["<id>", "<file id>", "{id}", "{{ id }}", "YOUR_TOKEN", "your-key-here", "REPLACE_ME", " <id> "])(
    "%s is refused",
    (value) => {
      const { code, options } = refusal(entry, { a: ["fine", { deep: value }] });
      expect([code, options.extra]).toEqual(["placeholder_argument", { invalidFields: ["a[1].deep"] }]);
    },
  );

  test.each(["me", "null", "TODO", "self", "a <b> c", "<p>Hi</p>", "{}", "{ a: 1 }", "", "your turn", "<3"])(
    "%s is text",
    (value) => {
      expect(checkArguments(entry, { a: value, b: { s3key: "<pointer>" } })).toMatchObject({ a: value });
    },
  );
});

test("patterns that JavaScript cannot read are left to the app's own system, the others are checked", () => {
  const entry = entryWith({ a: { type: "string", pattern: "(?i)abc" }, b: { type: "string", pattern: "^x$" } });
  expect(checkArguments(entry, { a: "ABC", b: "x" })).toEqual({ a: "ABC", b: "x" });
  expect(refusal(entry, { b: "y" }).code).toBe("invalid_arguments");
});

describe("schemas of an added app that would take too long to check", () => {
  test("a pattern: nobody has checked them, so they are refused", () => {
    const entry = entryWith({ a: { type: "string", pattern: "^(a+)+$" } });
    const { status, code, message, options } = refusal(entry, { a: `${"a".repeat(60)}!` });
    expect([status, code]).toEqual([400, "invalid_arguments"]);
    expect(message).toBe("a: takes too long to check.");
    expect(options.extra).toEqual({ missingFields: [], invalidFields: ["a"] });
  });

  test("a long list is not compared with itself, a short one is", () => {
    const entry = entryWith({ a: { type: "array", uniqueItems: true } });
    const args = { a: Array.from({ length: 300_000 }, (_, index) => `item ${index}`) };
    expect(checkArguments(entry, args)).toEqual(args);
    expect(refusal(entry, { a: [1, 2, 1] }).message).toContain("no two equal items");
  });

  test("patterns of values and keys that take a few steps are checked", () => {
    const properties = {
      a: { type: "string", pattern: "^[a-z]+(-[a-z]+)*$" },
      b: { type: "object", patternProperties: { "^x-": { type: "string" } }, additionalProperties: false },
    };
    const entry = entryWith(properties);
    expect(checkArguments(entry, { a: "a-b", b: { "x-1": "one" } })).toBeTruthy();
    expect(refusal(entry, { a: "a--b" }).options.extra).toMatchObject({ invalidFields: ["a"] });
    expect(refusal(entry, { b: { "x-1": 1, y: "two" } }).options.details).toEqual([
      "b.x-1: expected string, got number 1",
      expect.stringMatching(/^b\.y: expected no /),
    ]);
  });
});

describe("arguments that are called like keywords", () => {
  test.each(["anyOf", "oneOf", "not", "contains", "items", "0"])("%s is checked like every other", (name) => {
    const entry = entryWith({
      [name]: { type: "object", properties: { n: { type: "string" } }, additionalProperties: false },
    });
    expect(refusal(entry, { [name]: { n: 1, more: 2 } }).options.details).toEqual([
      `${name}.n: expected string, got number 1`,
      `${name}.more: expected no such key (known: n), got number 2`,
    ]);
  });

  test("what fails inside a union is told of the branch that was meant", () => {
    const closed = { type: "object", properties: { n: { type: "string" } }, additionalProperties: false };
    const entry = entryWith({ a: { anyOf: [closed, { type: "null" }] }, b: { type: "array", contains: closed } });
    expect(refusal(entry, { a: { n: 1, more: 2 }, b: [{ other: 1 }] }).options.details).toEqual([
      "a.n: expected string, got number 1",
      "a.more: expected no value here, got number 2",
      expect.stringMatching(/^b: expected at least one object in the list/),
    ]);
  });
});

describe("alternatives that hold each other", () => {
  const kinds = Array.from({ length: 6 }, (_, index) => ({
    type: "object",
    properties: { parts: { type: "array", items: { $ref: "#/$defs/block" } }, kind: { const: `k${index}` } },
    required: ["kind"],
  }));
  const entry = entryWith(
    { block: { $ref: "#/$defs/block" }, counts: { type: "array", items: { type: "integer" } } },
    { $defs: { block: { anyOf: kinds } }, $recursiveAnchor: true },
  );
  const nest = (depth: number, inmost: object): object =>
    depth === 0 ? inmost : { kind: "k5", parts: [nest(depth - 1, inmost)] };

  test("are checked while that does not take long", () => {
    expect(refusal(entry, { block: nest(2, { kind: "none" }) }).options.details).toHaveLength(1);
    expect(checkArguments(entry, { block: nest(2, { kind: "k0" }) })).toBeTypeOf("object");
  });

  test("are refused where trying them all would take for ever: nobody has checked them", () => {
    const { status, code, message, options } = refusal(entry, { block: nest(40, { kind: "k0" }) });
    expect([status, code]).toEqual([400, "invalid_arguments"]);
    expect(message).toBe("block: takes too long to check.");
    expect(options.hint).toContain("Send a shorter or simpler value");
    expect(options.extra).toEqual({ missingFields: [], invalidFields: ["block"] });
  });

  test("do not keep long lists from being checked", () => {
    const counts = [...new Array(400_000).fill(1), "many"];
    expect(refusal(entry, { counts }).options.details).toEqual(['counts[400000]: expected integer, got string "many"']);
  });
});
