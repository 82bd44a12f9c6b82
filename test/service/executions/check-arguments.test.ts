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
