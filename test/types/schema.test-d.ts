import { expectTypeOf } from "vitest";
import { createArgumentGuard, projectToolSchema } from "../../src/index.ts";

const projected = projectToolSchema({ type: "object" }, { profile: "gemini" });
expectTypeOf(projected.schema).toExtend<Record<string, unknown>>();
expectTypeOf(projected.notes).toExtend<readonly string[]>();
expectTypeOf(projected.renamed).toExtend<readonly unknown[]>();
// @ts-expect-error there are two profiles
projectToolSchema({}, { profile: "claude" });

const guard = createArgumentGuard(null);
expectTypeOf(guard).parameter(0).toEqualTypeOf<unknown>();
const checked = guard({});
expectTypeOf(checked.ok).toEqualTypeOf<boolean>();
expectTypeOf(checked.args).toEqualTypeOf<Record<string, unknown>>();
expectTypeOf(checked.repairs).toExtend<readonly string[]>();
expectTypeOf(checked.problems).toExtend<readonly { path: string; expected: string; got: string; message: string }[]>();
