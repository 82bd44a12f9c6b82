import { describe, expect, test } from "vitest";
import { createArgumentGuard } from "../../../src/plugin/schema/repair/argument-guard.ts";

const SCHEMA = {
  type: "object",
  properties: {
    id: { type: "integer", minimum: 1, maximum: 1_000_000 },
    title: { type: "string", maxLength: 10 },
    draft: { type: "boolean", default: false },
    order: { type: "string", enum: ["asc", "desc"] },
    tags: { type: "array", items: { type: "string" }, maxItems: 3 },
    counts: { type: "array", items: { type: "integer" } },
    filter: { type: "object", properties: { limit: { type: "integer" } }, required: ["limit"] },
    either: { anyOf: [{ type: "integer" }, { type: "boolean" }, { type: "null" }] },
    code: { type: "string", pattern: "^[A-Z]{3}$" },
    apiKey: { type: "string", maxLength: 5 },
    level: { enum: [1, 2, 3] },
    parts: { type: "array", items: { type: "object", properties: { n: { type: "integer" } } } },
  },
  required: ["id"],
  additionalProperties: false,
};
const guard = createArgumentGuard(SCHEMA);

describe("repairs", () => {
  test.each([
    ["number as text", { id: "7" }, { id: 7 }, ["used id = 7"]],
    ["boolean as text", { id: 1, draft: "True" }, { id: 1, draft: true }, ["used draft = true"]],
    ["list as JSON text", { id: 1, tags: '["a"]' }, { id: 1, tags: ["a"] }, ['used tags = ["a"]']],
    [
      "object as JSON text",
      { id: 1, filter: '{"limit":5}' },
      { id: 1, filter: { limit: 5 } },
      ['used filter = {"limit":5}'],
    ],
    ["one value for a list", { id: 1, tags: "a" }, { id: 1, tags: ["a"] }, ['used tags = ["a"]']],
    ["one object for a list", { id: 1, parts: { n: 1 } }, { id: 1, parts: [{ n: 1 }] }, ['used parts = [{"n":1}]']],
    [
      "null for an optional key",
      { id: 1, title: null, order: null },
      { id: 1 },
      ["left out title (was null)", "left out order (was null)"],
    ],
    ["number for text", { id: 1, title: 42 }, { id: 1, title: "42" }, ['used title = "42"']],
    ["allowed value in other letters", { id: 1, order: " ASC" }, { id: 1, order: "asc" }, ['used order = "asc"']],
    ["allowed number as text", { id: 1, level: "2" }, { id: 1, level: 2 }, ["used level = 2"]],
    ["member of a union as text", { id: 1, either: "false" }, { id: 1, either: false }, ["used either = false"]],
  ])("%s", (_, args, repaired, repairs) => {
    expect(guard(args)).toEqual({ ok: true, args: repaired, repairs, problems: [] });
  });

  test("go as deep as a list in JSON text with numbers as text", () => {
    expect(guard({ id: 1, counts: '["1", 2]' })).toMatchObject({ ok: true, args: { id: 1, counts: [1, 2] } });
    expect(guard({ id: 1, filter: '{"limit":"5"}' })).toMatchObject({ ok: true, args: { filter: { limit: 5 } } });
    expect(guard({ id: 1, counts: "3" })).toMatchObject({ ok: true, args: { counts: [3] } });
  });

  test("the root may be JSON text, also twice over, or left out", () => {
    const text = JSON.stringify({ id: 3 });
    expect(guard(text)).toMatchObject({ ok: true, args: { id: 3 }, repairs: ["read the arguments from JSON text"] });
    expect(guard(JSON.stringify(text))).toMatchObject({ ok: true, args: { id: 3 } });
    expect(createArgumentGuard({ type: "object", properties: { a: {} } })(null)).toMatchObject({ ok: true, args: {} });
  });

  test.each([
    ["null never becomes a value", { id: null }],
    ["text that is no number stays", { id: "7 apples" }],
    ["leading zeros are part of a text", { id: "007" }],
    ["a fraction is no integer", { id: "1.5" }],
    ["digits are never lost", { id: "12345678901234567891" }],
    ["yes is no boolean", { id: 1, draft: "yes" }],
    ["0 is no boolean", { id: 1, draft: 0 }],
    ["a list is never cut", { id: 1, tags: ["a", "b", "c", "d"] }],
    ["text is never cut", { id: 1, title: "longer than ten" }],
    ["an unknown key is never dropped", { id: 1, other: 1 }],
    ["a number is never moved into its limits", { id: 0 }],
    ["true never becomes text", { id: 1, title: true }],
  ])("%s", (_, args) => {
    const before = structuredClone(args);
    expect(guard(args)).toMatchObject({ ok: false, repairs: [], args: before });
    expect(args).toEqual(before);
  });

  test("of two allowed values that differ in letter case none is chosen", () => {
    const twice = createArgumentGuard({ properties: { a: { enum: ["Up", "UP"] } } });
    expect(twice({ a: "up" })).toMatchObject({ ok: false, repairs: [] });
  });

  test("a number becomes no text that a pattern decides about which is not run here", () => {
    const properties = {
      run: { type: "string", pattern: "^[0-9]+$" },
      slow: { type: "string", pattern: "^([0-9]+)+$" },
      other: { type: "string", pattern: "(?i)^[a-z]+$" },
      list: { type: "array", items: { $ref: "#/$defs/Word" } },
    };
    const unrun = createArgumentGuard({ properties, $defs: { Word: { type: "string", pattern: "\\Aa+\\Z" } } });
    expect(unrun({ run: 5 })).toMatchObject({ ok: true, args: { run: "5" } });
    expect(unrun({ slow: 5 })).toMatchObject({ ok: true, args: { slow: "5" } });
    expect(unrun({ other: 5 })).toMatchObject({ ok: false, args: { other: 5 }, repairs: [] });
    expect(unrun({ list: [5] })).toMatchObject({ ok: false, args: { list: [5] }, repairs: [] });
    expect(unrun({ other: "5", list: "aa" })).toMatchObject({ ok: true, args: { other: "5", list: ["aa"] } });
  });

  test("one fault that stays does not keep others from being repaired", () => {
    const result = guard({ id: "5", title: "longer than ten", draft: "true" });
    expect(result).toMatchObject({ ok: false, args: { id: 5, title: "longer than ten", draft: true } });
    expect(result.repairs.sort()).toEqual(["used draft = true", "used id = 5"]);
    expect(result.problems.map(({ path }) => path)).toEqual(["title"]);
  });

  test("defaults are not filled in and unknown keys of open objects stay", () => {
    const open = createArgumentGuard({ type: "object", properties: { a: { type: "string", default: "x" } } });
    const args = { other: { deep: null } };
    expect(open(args).args).toBe(args);
    expect(open({ ...args, a: 1 })).toMatchObject({ ok: true, args: { other: { deep: null }, a: "1" } });
  });
});

describe("problems", () => {
  test.each([
    [{}, "id: is required and missing, expected integer"],
    [{ id: "many" }, 'id: expected integer, got string "many"'],
    [{ id: 0 }, "id: expected number of at least 1, got number 0"],
    [{ id: 1, order: "up" }, 'order: expected one of "asc", "desc", got string "up"'],
    [{ id: 1, order: 5 }, 'order: expected one of "asc", "desc", got number 5'],
    [
      { id: 1, title: "longer than ten" },
      'title: expected string of at most 10 characters, got "longer than ten" (15)',
    ],
    [{ id: 1, code: "abc" }, 'code: expected string matching ^[A-Z]{3}$, got string "abc"'],
    [{ id: 1, tags: ["a", "b", "c", "d"] }, "tags: expected list of at most 3 items, got 4 items"],
    [{ id: 1, tags: ["a", {}] }, "tags[1]: expected string, got object {}"],
    [{ id: 1, filter: {} }, "filter.limit: is required and missing, expected integer"],
    [{ id: 1, either: "x" }, 'either: expected integer, boolean or null, got string "x"'],
    [{ id: 1, titel: "x" }, /^titel: expected no such key \(known: title, .*\), got string "x"$/],
    [[], "arguments: expected object, got array []"],
    [7, "arguments: expected object, got number 7"],
    ["not json", 'arguments: expected object, got string "not json"'],
  ])("%j", (args, message) => {
    const { ok, problems } = guard(args);
    expect(ok).toBe(false);
    expect(problems).toHaveLength(1);
    const [problem] = problems;
    if (typeof message === "string") expect(problem?.message).toBe(message);
    else expect(problem?.message).toMatch(message);
    expect(problem?.message).toBe(
      problem?.got === "nothing (missing)"
        ? `${problem.path}: is required and missing, expected ${problem.expected.replace("required ", "")}`
        : `${problem?.path || "arguments"}: expected ${problem?.expected}, got ${problem?.got}`,
    );
  });

  test("of a union only the branch that was meant is explained", () => {
    const shapes = createArgumentGuard({
      properties: {
        shape: {
          oneOf: [
            {
              type: "object",
              properties: { kind: { const: "circle" }, r: { type: "number" } },
              required: ["kind", "r"],
            },
            {
              type: "object",
              properties: { kind: { const: "square" }, side: { type: "number" } },
              required: ["kind", "side"],
            },
            { type: "null" },
          ],
        },
      },
    });
    expect(shapes({ shape: { kind: "square", side: "big" } }).problems).toMatchObject([{ path: "shape.side" }]);
    expect(shapes({ shape: { kind: "oval" } }).problems).toMatchObject([
      { path: "shape.kind", expected: 'one of "circle", "square"', got: 'string "oval"' },
    ]);
    expect(shapes({ shape: 5 }).problems).toMatchObject([{ path: "shape", expected: "object or null" }]);
  });

  const nested = {
    properties: { pet: { $ref: "#/$defs/Pet" }, filter: { $ref: "#/$defs/Filter" }, order: { $ref: "#/$defs/Order" } },
    $defs: {
      Pet: { oneOf: [{ $ref: "#/$defs/Cat" }, { $ref: "#/$defs/Dog" }] },
      Cat: { properties: { kind: { const: "cat" } }, required: ["kind"] },
      Dog: {
        properties: { kind: { const: "dog" }, friend: { anyOf: [{ $ref: "#/$defs/Pet" }, { type: "null" }] } },
        required: ["kind"],
      },
      Filter: { anyOf: [{ $ref: "#/$defs/Group" }, { $ref: "#/$defs/Rule" }] },
      Group: {
        type: "object",
        properties: { op: { enum: ["and", "or"] }, parts: { type: "array", items: { $ref: "#/$defs/Filter" } } },
        required: ["op", "parts"],
      },
      Rule: {
        type: "object",
        properties: { field: { type: "string" }, is: { enum: ["eq", "ne"] } },
        required: ["field", "is"],
      },
      Order: {
        properties: { id: { type: "integer" }, name: { type: "string" }, shop: { type: "string" } },
        anyOf: [{ required: ["id"] }, { required: ["name", "shop"] }],
      },
    },
  };

  test.each([
    [
      "a fixed value further down is no discriminator",
      { pet: { kind: "dog", friend: { kind: 5 } } },
      "pet.friend.kind",
    ],
    ["the branch that knows the keys is meant", { filter: { op: "nor", parts: [] } }, "filter.op"],
    ["also when another lacks fewer", { filter: { field: "a", is: "like" } }, "filter.is"],
    ["also with many faults in a list", { filter: { op: "or", parts: Array(30).fill(5) } }, "filter.parts[0]"],
  ])("of a union within a union, %s", (_, args, path) => {
    expect(createArgumentGuard(nested)(args).problems[0]?.path).toBe(path);
  });

  test("of a union that asks for one key or another, each is named", () => {
    const { problems } = createArgumentGuard(nested)({ order: { shop: "s" } });
    expect(problems.map(({ message }) => message)).toEqual([
      "order.id: is required and missing, expected integer (or give name)",
    ]);
  });

  test("keywords without a value of their own are explained as well", () => {
    const odd = createArgumentGuard({
      properties: {
        a: { not: { type: "string" } },
        b: { type: "array", contains: { type: "integer" } },
        c: { type: "array", uniqueItems: true },
        d: { type: "object", maxProperties: 1 },
        e: { multipleOf: 5 },
        f: { oneOf: [{ type: "integer" }, { type: "number" }] },
      },
      dependentRequired: { a: ["z"] },
    });
    const expected = (args: unknown) => odd(args).problems.map(({ path, expected }) => `${path}: ${expected}`);
    expect(expected({ a: "x", z: 1 })).toEqual(["a: a value the schema does not exclude"]);
    expect(expected({ b: ["x"] })).toEqual(["b: at least one integer in the list"]);
    expect(expected({ c: [1, 1] })).toEqual(["c: no two equal items"]);
    expect(expected({ d: { x: 1, y: 1 } })).toEqual(["d: object with at most 1 keys"]);
    expect(expected({ e: 7 })).toEqual(["e: multiple of 5"]);
    expect(expected({ f: 7 })).toEqual(["f: a value of exactly one of the allowed forms"]);
    expect(expected({ a: 1 })).toEqual(['z: required value (because "a" is given)']);
  });

  test("at most 6 are told", () => {
    const many = createArgumentGuard({ required: Array.from({ length: 30 }, (_, index) => `key${index}`) });
    expect(many({}).problems).toHaveLength(6);
  });

  test("a long list of allowed values starts with those most like the one given", () => {
    const enums = Array.from({ length: 200 }, (_, index) => `value-number-${index}`);
    const [problem] = createArgumentGuard({ properties: { a: { enum: enums } } })({ a: "value-number-77x" }).problems;
    expect(problem?.expected).toMatch(/^one of "value-number-77", .*… \(200 values\)$/);
    expect(problem?.message.length).toBeLessThan(250);
  });

  test("values are cut at 60 characters and secrets are hidden", () => {
    const long = guard({ id: 1, title: "x".repeat(5_000) }).problems[0];
    expect(long?.got).toMatch(/^string of 5000 characters "x{58}…$/);
    for (const title of ["🙂".repeat(60), `a${"🙂".repeat(60)}`]) {
      expect(guard({ id: 1, title }).problems[0]?.got).toMatch(/🙂…$/u);
    }
    const secret = JSON.stringify(
      [
        guard({ id: 1, apiKey: "hunter2-hunter2" }),
        guard({ id: 1, title: "sk-abcdefghijklmnop" }),
        guard({ id: { password: "hunter2-hunter2", nested: { note: "Bearer hunter2-hunter2" } } }),
        guard({ id: "https://user:hunter2@example.com/" }),
      ].map(({ problems }) => problems),
    );
    expect(secret).not.toMatch(/hunter2|abcdefgh/);
    expect(secret).toMatch(/hidden/);
  });
});

describe("what cannot be judged passes", () => {
  test.each([[null], [undefined], [{}], ["text"], [[]], [true], [42]])("schema %j: every object passes", (schema) => {
    const args = { anything: [1] };
    expect(createArgumentGuard(schema)(args)).toEqual({ ok: true, args, repairs: [], problems: [] });
  });

  test("a file field holds whatever the media step makes of it", () => {
    const file = { type: "object", properties: { name: {}, mimetype: {}, s3key: {} }, required: ["s3key"] };
    const upload = createArgumentGuard({
      type: "object",
      properties: {
        file: { file_uploadable: true, type: "object", required: ["name"] },
        files: { type: "array", items: file },
        maybe: { anyOf: [file, { type: "null" }] },
      },
      required: ["file"],
    });
    const args = { file: "a.png", files: ["b.png", { path: "c.png" }], maybe: "d.png" };
    expect(upload(args)).toMatchObject({ ok: true, repairs: [] });
    expect(upload({}).problems).toMatchObject([{ path: "file" }]);
  });

  test("a large schema is listed in full when arguments fail", () => {
    const names = Array.from({ length: 900 }, (_, index) => `p${index}`);
    const properties = Object.fromEntries(
      names.map((name) => [name, { type: "object", properties: { a: { enum: ["x"] } } }]),
    );
    const wide = createArgumentGuard({ properties });
    expect(wide({ p899: { a: "X" }, p1: null })).toMatchObject({ ok: true, args: { p899: { a: "x" } } });
  });

  test("arguments of many values, or nested very deeply", () => {
    const numbers = { a: Array.from({ length: 50_000 }, () => "x") };
    const counts = createArgumentGuard({ properties: { a: { type: "array", items: { type: "integer" } } } });
    expect(counts(numbers).args).toBe(numbers);
    let deep: unknown = 1;
    for (let level = 0; level < 5_000; level++) deep = { a: deep };
    expect(guard({ id: 1, filter: deep }).ok).toBe(true);
  });
});

describe("what would take seconds to judge passes", () => {
  const times = (count: number, node: unknown) => Array.from({ length: count }, () => node);
  const keys = (count: number) => Object.fromEntries(times(count, 1).map((one, index) => [`key${index}`, one]));
  const listEnding = (last: number) => [...times(2_000, 1), last];

  test.each<[string, Record<string, unknown>, unknown]>([
    ["9,000 keys in open objects", { allOf: times(950, { additionalProperties: true }) }, keys(9_000)],
    ["9,000 keys without a name", { allOf: times(950, { propertyNames: true }) }, keys(9_000)],
    ["9,000 items of closed lists", { anyOf: times(950, { items: false }) }, times(9_000, 1)],
    [
      "long lists to choose from",
      { anyOf: times(50, { enum: times(100, 1).map((_, index) => listEnding(index + 5)) }) },
      listEnding(1),
    ],
    [
      "a long key for limits",
      { allOf: times(950, { propertyNames: { maxLength: 70_000 } }) },
      { ["k".repeat(60_000)]: 1 },
    ],
    ["a long key for rules", { allOf: times(950, { additionalProperties: {} }) }, { ["k".repeat(60_000)]: 1 }],
  ])("%s", (_, schema, x) => {
    const { allOf = [], ...rest } = schema;
    const fails = { ...rest, allOf: [...Object(allOf), { not: {} }] };
    const args = { x };
    const result = createArgumentGuard({ properties: { x: fails } }, { limitsMs: [] })(args);
    expect(result).toMatchObject({ ok: true, repairs: [], problems: [] });
    expect(result.args).toBe(args);
  });

  test("of 9,000 items that are not a long fixed text the first is told", () => {
    const fixed = createArgumentGuard({ properties: { x: { items: { const: "c".repeat(500_000) } } } });
    expect(fixed({ x: times(9_000, "d") }).problems.map(({ path }) => path)).toEqual(["x[0]"]);
  });

  test("JSON text of 15,000 keys for patterns is left as it is", () => {
    const patterns = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`^k${index}$`, {}]));
    const object = createArgumentGuard({ properties: { x: { type: "object", patternProperties: patterns } } });
    expect(object({ x: JSON.stringify(keys(15_000)) })).toMatchObject({ ok: false, repairs: [] });
    expect(object({ x: JSON.stringify(keys(30)) })).toMatchObject({
      ok: true,
      repairs: [expect.stringMatching(/^used x/)],
    });
  });

  test("a list of 100 closed objects is judged", () => {
    const item = { type: "object", properties: { id: { type: "integer" } }, additionalProperties: false };
    const list = createArgumentGuard({ properties: { x: { type: "array", items: item } } });
    const x = times(100, { id: 1 });
    expect(list({ x }).ok).toBe(true);
    expect(list({ x: [...x, { other: 1 }] }).problems.map(({ path }) => path)).toEqual(["x[100].other"]);
  });
});

describe("values JSON does not have", () => {
  const any = createArgumentGuard({ properties: { n: { type: "number" }, s: { type: "string" } }, required: ["s"] });

  test("undefined counts as absent, a date as its text, NaN as null", () => {
    const args = { s: new Date(0), n: undefined };
    expect(any(args).args).toBe(args);
    expect(any({ s: undefined }).problems).toMatchObject([{ path: "s", got: "nothing (missing)" }]);
    expect(any({ s: "", n: Number.NaN })).toMatchObject({
      ok: true,
      args: { s: "" },
      repairs: ["left out n (was null)"],
    });
  });

  test("an object that contains itself, a bigint and a throwing getter are refused or pass, but never throw", () => {
    const loop: Record<string, unknown> = { s: "x" };
    loop.self = loop;
    expect(any(loop)).toMatchObject({ ok: false });
    expect(any({ s: 1n })).toMatchObject({ ok: false });
    const trap = Object.defineProperty({}, "s", {
      enumerable: true,
      get(): string {
        throw new Error("no");
      },
    });
    expect(() => any(trap)).not.toThrow();
  });

  test("neither does what is no object and cannot be looked at", () => {
    const gone = Proxy.revocable({}, {});
    gone.revoke();
    const fails = () => {
      throw new Error("no");
    };
    const unreadable = [
      gone.proxy,
      [Object.defineProperty({}, "a", { enumerable: true, get: fails })],
      [{ toJSON: fails }],
    ];
    for (const given of unreadable) {
      expect(any(given)).toMatchObject({ ok: false, args: {}, repairs: [] });
      expect(any(given).problems.map(({ expected }) => expected)).toEqual(["values JSON can hold"]);
    }
  });

  test("objects that cannot become text are judged like others", () => {
    const mute = JSON.parse('{"toString":1,"valueOf":1}');
    const choice = createArgumentGuard({
      properties: { a: { enum: ["x", "y"] }, b: { const: mute }, c: { enum: [mute, 1] } },
    });
    for (const a of [mute, Object.create(null)]) expect(choice({ a }).problems[0]?.path).toBe("a");
    expect(choice({ b: 1 }).problems[0]?.path).toBe("b");
    expect(choice({ c: 2 }).problems[0]?.path).toBe("c");
    expect(createArgumentGuard({ $schema: mute, required: ["a"] })({}).problems[0]?.path).toBe("a");
  });

  test("prototype keys are plain data", () => {
    const args = JSON.parse('{"s":"x","n":"1","__proto__":{"polluted":true}}');
    const result = any(args);
    expect(result).toMatchObject({ ok: true, repairs: ["used n = 1"] });
    expect(Object.hasOwn(result.args, "__proto__")).toBe(true);
    expect(Object.getPrototypeOf(result.args)).toBe(Object.prototype);
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });
});
