import { type ArgumentGuard, createArgumentGuard } from "../schema/argument-guard.ts";
import { isPlaceholderSchema } from "../schema/placeholders.ts";
import type { JsonSchema } from "../wire/tool.ts";

/** Arguments made ready for a host that checks them itself, before a call reaches the pipeline. */
export interface RepairedArguments {
  /** With every repair that makes a value fit; the very value given when there was none. */
  readonly args: unknown;
  /** What to tell the model about each null that stands where a value is required; hosts that bend types invent one. */
  readonly wrongNulls: readonly string[];
}

const guards = new WeakMap<object, ArgumentGuard>();

/** Repairs arguments by the schema a model was shown. What cannot be repaired stays as given. Never throws. */
export function repairForSchema(schema: JsonSchema, args: unknown): RepairedArguments {
  if (isPlaceholderSchema(schema)) return { args, wrongNulls: [] };
  const guard = guards.get(schema) ?? createArgumentGuard(schema);
  guards.set(schema, guard);
  const { repairs, problems, args: repaired } = guard(args);
  const wrongNulls = problems.filter(({ got }) => got === "null").map(({ message }) => message);
  return { args: repairs.length === 0 ? args : repaired, wrongNulls };
}
