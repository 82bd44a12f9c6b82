import { describe, expect, test } from "vitest";
import { z } from "zod";
import { readOwnArguments } from "../../../src/plugin/schema/repair/own-arguments.ts";

const schema = z.strictObject({ limit: z.int().optional() });

describe("arguments of a tool of our own", () => {
  test.each([
    ["an object", { limit: 5 }, { limit: 5 }],
    ["its JSON text", '{"limit":5}', { limit: 5 }],
    ["nothing", undefined, {}],
    ["null", null, {}],
    ["an empty text", "", {}],
    ["a blank text", " \n", {}],
  ])("may be %s", (_, given, value) => {
    expect(readOwnArguments(schema, given)).toEqual({ ok: true, value });
  });

  test("are refused by field when they do not fit", () => {
    const result = readOwnArguments(schema, { limit: "many" });
    expect(result).toMatchObject({
      ok: false,
      refusal: { code: "invalid_arguments", details: [expect.stringMatching(/^limit: /)], retryable: false },
    });
    expect(readOwnArguments(schema, "limit 5")).toMatchObject({
      ok: false,
      refusal: { details: [expect.stringMatching(/^arguments: /)] },
    });
  });
});
