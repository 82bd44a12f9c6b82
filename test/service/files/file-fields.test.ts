import { expect, test } from "vitest";
import { findFileFields } from "../../../src/service/files/file-fields.ts";

test("a file among alternatives that hold each other is found once, without a look for each way to it", () => {
  const kinds = Array.from({ length: 6 }, (_, index) => ({
    properties: {
      kind: { const: `k${index}` },
      file: { file_uploadable: true },
      parts: { type: "array", items: { $ref: "#/$defs/block" } },
    },
  }));
  const schema = { properties: { block: { $ref: "#/$defs/block" } }, $defs: { block: { anyOf: kinds } } };
  let looks = 0;
  const inmost = {
    file: { s3key: "here" },
    get kind() {
      looks += 1;
      return "k5";
    },
  };
  const block = { parts: [{ parts: [{ parts: [{ parts: [inmost] }] }] }] };
  const found = findFileFields(schema, { block });
  expect(found).toEqual([{ field: "block.parts[0].parts[0].parts[0].parts[0].file", value: { s3key: "here" } }]);
  // Once with each part of the schema; there are more than a thousand ways.
  expect(looks).toBeLessThan(20);
});
