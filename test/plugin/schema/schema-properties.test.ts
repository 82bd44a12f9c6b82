import { Validator } from "@cfworker/json-schema";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { projectToolSchema } from "../../../src/plugin/schema/project/project-schema.ts";
import { restoreRenamedKeys } from "../../../src/plugin/schema/project/rename-keys.ts";
import { createArgumentGuard } from "../../../src/plugin/schema/repair/argument-guard.ts";
import { fuzzOptions } from "../../fuzz/fuzz-options.ts";
import { findIllegal, showRenamedKeys } from "./corpus-measures.ts";
import { call, toolSchema } from "./generated-schemas.ts";

const RUNS = fuzzOptions({ runs: 300 });

describe("for generated schemas", () => {
  test("a valid call passes as the very same object", () => {
    fc.assert(
      fc.property(call, ([schema, args]) => {
        const before = structuredClone(args);
        const result = createArgumentGuard(schema)(args);
        expect(result).toMatchObject({ ok: true, repairs: [], problems: [] });
        expect(result.args).toBe(args);
        expect(args).toEqual(before);
      }),
      RUNS,
    );
  });

  test("and is valid for what the model is shown, with its keys given back", () => {
    fc.assert(
      fc.property(call, ([schema, args]) => {
        const { schema: shown, renamed } = projectToolSchema(schema, { profile: "full" });
        const written = showRenamedKeys(structuredClone(args), renamed);
        expect(new Validator(structuredClone(shown), "2020-12").validate(written).errors).toEqual([]);
        expect(restoreRenamedKeys(Object(written), renamed)).toEqual(args);
      }),
      RUNS,
    );
  });

  test("projections are legal, stay legal when projected again, and leave the schema as it was", () => {
    fc.assert(
      fc.property(toolSchema, fc.constantFrom("full" as const, "gemini" as const), (schema, profile) => {
        const before = JSON.stringify(schema);
        const once = projectToolSchema(schema, { profile });
        const twice = projectToolSchema(once.schema, { profile });
        expect(findIllegal(once, profile)).toEqual([]);
        expect(findIllegal(twice, profile)).toEqual([]);
        expect(twice.renamed).toEqual([]);
        if (profile === "full") expect(twice.schema).toEqual(once.schema);
        expect(JSON.stringify(schema)).toBe(before);
      }),
      RUNS,
    );
  });

  test("whatever the arguments, the guard answers, changes nothing it was given and means what it says", () => {
    fc.assert(
      fc.property(toolSchema, fc.anything({ withDate: true, withBigInt: true, maxDepth: 4 }), (schema, args) => {
        const guard = createArgumentGuard(schema);
        const result = guard(args);
        expect(typeof result.args).toBe("object");
        expect(result.problems.length > 0).toBe(!result.ok);
        if (result.ok) expect(guard(result.args)).toMatchObject({ ok: true, repairs: [] });
      }),
      RUNS,
    );
  });

  test("broken schemas of any kind are no reason to throw", () => {
    fc.assert(
      fc.property(fc.anything({ maxDepth: 4 }), fc.object({ maxDepth: 3 }), (junk, args) => {
        const keywords = [
          "type",
          "properties",
          "items",
          "anyOf",
          "allOf",
          "oneOf",
          "not",
          "required",
          "enum",
          "$ref",
          "pattern",
          "minimum",
          "additionalProperties",
          "dependencies",
          "if",
          "default",
        ];
        for (const schema of [junk, ...keywords.map((keyword) => ({ type: "object", [keyword]: junk }))]) {
          expect(findIllegal(projectToolSchema(schema))).toEqual([]);
          expect(typeof createArgumentGuard(schema)(args).ok).toBe("boolean");
        }
      }),
      fuzzOptions({ runs: 150 }),
    );
  });
});
