import { describe, expect, test } from "vitest";
import { projectToolSchema } from "../../../src/plugin/schema/project/project-schema.ts";
import { createArgumentGuard } from "../../../src/plugin/schema/repair/argument-guard.ts";
import { findIllegal } from "./corpus-measures.ts";
import { MESSY_SCHEMAS } from "./messy-schemas.ts";

describe.each(MESSY_SCHEMAS)("$name", ({ schema, accepts, refuses }) => {
  const guard = createArgumentGuard(schema);

  test("valid arguments pass as the very same object", () => {
    for (const args of accepts) {
      const before = structuredClone(args);
      const result = guard(args);
      expect(result.problems).toEqual([]);
      expect(result).toMatchObject({ ok: true, repairs: [] });
      expect(result.args).toBe(args);
      expect(args).toEqual(before);
    }
  });

  test("invalid arguments are refused with a reason", () => {
    for (const args of refuses) {
      const result = guard(args);
      expect(result, JSON.stringify(args).slice(0, 200)).toMatchObject({ ok: false });
      expect(result.problems.length).toBeGreaterThan(0);
    }
  });

  test.each(["full", "gemini"] as const)("the %s projection is legal and the input stays as it was", (profile) => {
    const before = JSON.stringify(schema);
    expect(findIllegal(projectToolSchema(schema, { profile }), profile)).toEqual([]);
    expect(JSON.stringify(schema)).toBe(before);
  });
});
