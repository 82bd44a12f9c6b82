import { beforeAll, describe, expect, it } from "vitest";
import { fitsSchema } from "../../../../src/plugin/calls/steps/check.ts";
import {
  loadRepair,
  repairDirectParams,
  repairSearchedParams,
} from "../../../../src/plugin/runtimes/openclaw/translate-tool.ts";

const schema = {
  type: "object",
  properties: {
    text: { type: "string" },
    count: { type: "integer", minimum: 0 },
    mode: { type: "string", enum: ["fast", "slow"] },
    tags: { type: "array", items: { type: "string" } },
    flag: { type: "boolean" },
  },
  required: ["text"],
  additionalProperties: false,
};

it("leaves arguments alone until the repair is loaded", () => {
  const params = { text: "a", count: "5" };
  expect(repairDirectParams(schema, params)).toBe(params);
});

describe("once it is loaded", () => {
  beforeAll(() => loadRepair());

  const slips: [string, unknown, unknown][] = [
    ["the arguments as JSON text", '{"text":"a"}', { text: "a" }],
    ["the arguments encoded twice", JSON.stringify('{"text":"a"}'), { text: "a" }],
    ["a number as text", { text: "a", count: "5" }, { text: "a", count: 5 }],
    ["another letter case", { text: "a", mode: "Fast" }, { text: "a", mode: "fast" }],
    ["one item for a list", { text: "a", tags: "x" }, { text: "a", tags: ["x"] }],
    ["a list as JSON text", { text: "a", tags: '["x"]' }, { text: "a", tags: ["x"] }],
    ["True for true", { text: "a", flag: "True" }, { text: "a", flag: true }],
    ["null for what may be left out", { text: "a", count: null, mode: null, tags: null }, { text: "a" }],
  ];

  it.each(slips)("repairs %s on both ways a call may take", async (_what, given, meant) => {
    expect(repairDirectParams(schema, given)).toEqual(meant);
    expect(await repairSearchedParams(schema, given)).toEqual(meant);
  });

  const files = {
    type: "object",
    properties: {
      file: {
        type: "object",
        properties: { name: { type: "string" }, mimetype: { type: "string" }, s3key: { type: "string" } },
        required: ["s3key"],
      },
      more: {
        type: "array",
        items: {
          type: "object",
          properties: { s3key: { type: "string" }, name: { type: "string" }, mimetype: { type: "string" } },
          required: ["s3key"],
        },
      },
    },
    required: ["file"],
    additionalProperties: false,
  };
  const pdf = { s3key: "media://inbound/x.pdf", name: "x.pdf", mimetype: "application/pdf" };

  it.each([
    ["a file as text", { file: "media://inbound/x.pdf" }, { file: pdf }],
    ["a file under another name", { file: { path: "media://inbound/x.pdf" } }, { file: pdf }],
    ["files as texts", { file: pdf, more: ["media://inbound/x.pdf"] }, { file: pdf, more: [pdf] }],
    ["one file for a list", { file: pdf, more: "media://inbound/x.pdf" }, { file: pdf, more: [pdf] }],
  ])("takes %s on both ways", async (_what, given, meant) => {
    expect(fitsSchema(files, given), "the host would refuse it").toBe(false);
    expect(fitsSchema(files, meant)).toBe(true);
    expect(repairDirectParams(files, given)).toEqual(meant);
    expect(await repairSearchedParams(files, given)).toEqual(meant);
  });

  it("leaves a file alone that fits", async () => {
    const params = { file: { s3key: "media://inbound/x.pdf" } };
    expect(await repairSearchedParams(files, params)).toBe(params);
  });

  it("gives back the very arguments that were right, and those it cannot repair", async () => {
    for (const params of [{ text: "a" }, { text: "a", more: 1 }, {}, "no json", 7]) {
      expect(repairDirectParams(schema, params)).toBe(params);
      expect(await repairSearchedParams(schema, params)).toBe(params);
    }
  });

  it("refuses a null that the host would turn into a value nobody gave", () => {
    expect(() => repairDirectParams(schema, { text: null })).toThrow(
      /Nothing was sent\. text: expected string, got null/,
    );
  });

  it("knows nothing against a schema that says nothing", () => {
    expect(repairDirectParams({ type: "object" }, { a: null })).toEqual({ a: null });
  });
});
