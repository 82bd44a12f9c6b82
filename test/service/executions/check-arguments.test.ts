import { describe, expect, test } from "vitest";
import type { CatalogEntry } from "../../../src/service/catalog/catalog-entry.ts";
import { checkArguments } from "../../../src/service/executions/check-arguments.ts";
import { ServiceError } from "../../../src/service/service-error.ts";
import { createLab } from "../lab-integration.ts";

const { integration } = createLab();

function entryWith(properties: Record<string, unknown>, more: Record<string, unknown> = {}): CatalogEntry {
  const [action] = integration.actions;
  if (action === undefined) throw new Error("The lab has no actions.");
  return {
    toolName: "lab_any",
    integration,
    action: { ...action, inputSchema: { type: "object", properties, additionalProperties: false, ...more } },
  };
}

function refusal(entry: CatalogEntry, args: unknown): ServiceError {
  try {
    checkArguments(entry, args);
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error("The arguments were accepted.");
}

describe("lines that say what is wrong", () => {
  test.each([
    [{ a: { type: "string" } }, { a: 1 }, "arguments.a must be string, not number"],
    [{ a: { type: ["string", "null"] } }, { a: 1 }, /^arguments\.a must be string/],
    [{ a: { enum: ["x", "y"] } }, { a: "z" }, 'arguments.a must be one of ["x","y"]'],
    [
      { a: { anyOf: [{ type: "string" }, { type: "null" }] } },
      { a: 1 },
      "arguments.a matches none of the allowed forms",
    ],
    [{ a: { type: "integer", maximum: 5 } }, { a: 9 }, /^arguments\.a is not valid: 9 is greater than 5/],
    [{ a: { type: "string", format: "email" } }, { a: "x" }, /^arguments\.a is not valid: .*email/],
    [{}, { "\ud800": 1 }, "`arguments` has a member name that is not well-formed Unicode."],
    [{}, { "100%": 1 }, "arguments.100% is not an argument of this tool"],
    [{}, { "a/b": 1 }, "arguments.a/b is not an argument of this tool"],
    [{ a: { type: "array", items: { $ref: "#/$defs/i" } } }, { a: [{ n: 1 }, {}] }, "arguments.a[1].n is required"],
  ] as [Record<string, unknown>, unknown, string | RegExp][])("%j with %j", (properties, args, line) => {
    const defs = { $defs: { i: { type: "object", required: ["n"] } } };
    const { status, code, options } = refusal(entryWith(properties, defs), args);
    expect([status, code]).toEqual([400, "invalid_arguments"]);
    expect(options.details).toHaveLength(1);
    expect(options.details?.[0]).toMatch(line);
  });

  test.each([[undefined], [null], ["{}"], [[]], [3]])("arguments as %j", (args) => {
    expect(refusal(entryWith({}), args).message).toContain("must be an object");
  });
});

describe("a schema that nothing can be checked by", () => {
  const nest = (levels: number): unknown => {
    let schema: unknown = { type: "string" };
    for (let level = 0; level < levels; level += 1) schema = { allOf: [schema] };
    return schema;
  };

  test.each([
    ["a reference to nothing", { a: { $ref: "#/$defs/nowhere" } }],
    ["a reference that is no address", { a: { $ref: "http://[" } }],
    ["one name for two parts", { a: { $id: "x" }, b: { $id: "x" } }],
    ["a name that is not well-formed Unicode", { "a\ud800": { type: "string" } }],
    ["more levels than can be read", { a: nest(20_000) }],
  ])("is the fault of the app, and not of the call: %s", (_what, properties) => {
    const { status, code, message, options } = refusal(entryWith(properties), { a: "x" });
    expect([status, code, options.type]).toEqual([422, "integration_misconfigured", "configuration"]);
    expect(message).toContain("cannot be checked");
    expect(options.cause).toBeInstanceOf(Error);
  });
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
    ["a name", entryWith({}), { [long]: 1 }, /^arguments\.n+… is not an argument of this tool$/],
    ["names that are written long", entryWith({}), { ["😀é".repeat(1_000_000)]: 1 }, /^arguments\.(😀é)+😀?… is not/u],
    ["names below each other", open, { [long]: { [long]: 1 } }, /^arguments\.n+… must be string, not number$/],
    [
      "names below each other that are written long",
      open,
      { ["😀é".repeat(600_000)]: { ["😀é".repeat(600_000)]: 1 } },
      /^arguments\.(😀é)+😀?… must be string, not number$/u,
    ],
    ["a path to what is missing", entryWith({ a: { required: [long] } }), { a: {} }, /^arguments\.a\.n+… is required$/],
    [
      "a name that a rule is about",
      entryWith({ a: { propertyNames: { maxLength: 3 } } }),
      { a: { [long]: 1 } },
      /^arguments\.a is not valid: Property name "n+…$/,
    ],
    [
      "a name beside a placeholder",
      entryWith({}, { additionalProperties: true }),
      { [long]: "<id>" },
      /n… is still the/,
    ],
    ["a placeholder", entryWith({ a: {} }), { a: `<${long}>` }, /^arguments\.a is still the placeholder <n+…$/],
  ] as [string, CatalogEntry, unknown, RegExp][])("is repeated only in part: %s", (_what, entry, args, line) => {
    const { message, options } = refusal(entry, args);
    expect(options.details).toEqual([expect.stringMatching(line)]);
    expect(message.length + JSON.stringify(options).length).toBeLessThan(25_000);
  });

  test("below a long name is not looked at without end", () => {
    const names = Array.from({ length: 9_000 }, (_, index) => [`k${index}`, 1] as const);
    const { options } = refusal(open, { [long]: Object.fromEntries(names) });
    expect(options.details).toEqual([expect.stringMatching(/^arguments\.n+… must be string, not number$/)]);
  });

  test("below a long name is not repeated with it for every placeholder", () => {
    const entry = entryWith({}, { additionalProperties: true });
    const { options } = refusal(entry, { [long]: Array(9_000).fill("<id>") });
    expect(options.details).toEqual([expect.stringMatching(/^arguments\.n+… is still the placeholder <id>$/)]);
  });

  test("is named a hundred times at most as a placeholder too", () => {
    const entry = entryWith({ a: {} });
    const { options } = refusal(entry, { a: Array(300).fill("<id>") });
    expect(options.details).toHaveLength(100);
    expect(options.extra?.invalidFields).toHaveLength(100);
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
      ["a must be string, not number", "b must be string, not number"],
    ],
    [
      "in references of an alternative",
      { a: { anyOf: [twice, twice] } },
      { a: 1 },
      ["a matches none of the allowed forms"],
    ],
    ["as one that was not evaluated", { a: closed }, { a: { more: 1 } }, ["a.more is not an argument of this tool"]],
    [
      "as a name and as its rule",
      { a: { propertyNames: { pattern: "^x" } } },
      { a: { y: 1 } },
      ['a is not valid: Property name "y" does not match schema.'],
    ],
  ] as [string, Record<string, unknown>, unknown, string[]][])(
    "is told once: %s",
    (_where, properties, args, lines) => {
      const { options } = refusal(entryWith(properties, { $defs: { text } }), args);
      expect(options.details).toEqual(lines.map((line) => `arguments.${line}`));
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
      "arguments.f must be object, not string",
    ]);
  });
});

describe("placeholders", () => {
  const entry = entryWith({ a: {}, b: {} });

  test.each(["<id>", "<file id>", "{id}", "{{ id }}", "YOUR_TOKEN", "your-key", "REPLACE_ME", " <id> "])(
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
  const EVIL = "^(a+)+$";
  const value = `${"a".repeat(60)}!`;

  test.each([
    ["a pattern", { a: { type: "string", pattern: EVIL } }, { a: value }],
    ["a pattern in an alternative", { a: { anyOf: [{ type: "null" }, { pattern: EVIL }] } }, { a: value }],
    ["an argument called like a keyword", { default: { type: "string", pattern: EVIL } }, { default: value }],
    [
      "a pattern of keys",
      { a: { type: "object", patternProperties: { [EVIL]: { type: "string" } }, additionalProperties: false } },
      { a: { [value]: 1 } },
    ],
    ["an address", { a: { type: "string", format: "url" } }, { a: `http://${value}` }],
  ] as [string, Record<string, unknown>, Record<string, unknown>][])(
    "%s is left to the app",
    (_what, properties, args) => {
      expect(checkArguments(entryWith(properties), args)).toEqual(args);
    },
  );

  test("a long list is not compared with itself, a short one is", () => {
    const entry = entryWith({ a: { type: "array", uniqueItems: true } });
    const args = { a: Array.from({ length: 300_000 }, (_, index) => `item ${index}`) };
    expect(checkArguments(entry, args)).toEqual(args);
    expect(refusal(entry, { a: [1, 2, 1] }).message).toContain("Duplicate items");
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
      "arguments.b.x-1 must be string, not number",
      "arguments.b.y is not an argument of this tool",
    ]);
  });
});

describe("arguments that are called like keywords", () => {
  test.each(["anyOf", "oneOf", "not", "contains", "items", "0"])("%s is checked like every other", (name) => {
    const entry = entryWith({
      [name]: { type: "object", properties: { n: { type: "string" } }, additionalProperties: false },
    });
    expect(refusal(entry, { [name]: { n: 1, more: 2 } }).options.details).toEqual([
      `arguments.${name === "0" ? "[0]" : name}.n must be string, not number`,
      `arguments.${name === "0" ? "[0]" : name}.more is not an argument of this tool`,
    ]);
  });

  test("what fails inside a union is not told by itself", () => {
    const closed = { type: "object", properties: { n: { type: "string" } }, additionalProperties: false };
    const entry = entryWith({ a: { anyOf: [closed, { type: "null" }] }, b: { type: "array", contains: closed } });
    expect(refusal(entry, { a: { n: 1, more: 2 }, b: [{ other: 1 }] }).options.details).toEqual([
      "arguments.a matches none of the allowed forms",
      expect.stringContaining("arguments.b is not valid"),
    ]);
  });
});

describe("alternatives that hold each other", () => {
  const kinds = Array.from({ length: 6 }, (_, index) => ({
    type: "object",
    properties: { kind: { const: `k${index}` }, parts: { type: "array", items: { $ref: "#/$defs/block" } } },
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
    expect(message).toContain("nested too deeply");
    expect(message).toContain("Send fewer levels.");
    expect(options.extra).toEqual({ missingFields: [], invalidFields: [] });
  });

  test("do not keep long lists from being checked", () => {
    const counts = [...new Array(400_000).fill(1), "many"];
    expect(refusal(entry, { counts }).options.details).toEqual([
      "arguments.counts[400000] must be integer, not string",
    ]);
  });
});
