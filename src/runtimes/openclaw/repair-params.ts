import type { repairForSchema } from "../../tools/repair-for-schema.ts";

type Schema = Readonly<Record<string, unknown>>;
type Repair = typeof repairForSchema;

let loading: Promise<Repair> | undefined;
let loaded: Repair | undefined;

/** Loads what repairs arguments. Done ahead of the first call: the host asks for a repair synchronously. */
export async function loadRepair(): Promise<void> {
  loading ??= import("../../tools/repair-for-schema.ts").then(({ repairForSchema }) => repairForSchema);
  loaded = await loading;
}

/**
 * The arguments as the model meant them, for a tool it calls directly. The host would refuse some of the slips that we
 * repair, and makes 0, "" or false of a null. Unchanged while {@link loadRepair} is not done.
 *
 * @throws Error with what to correct, for the model, when a null stands where a value is required
 */
export function repairDirectParams(schema: Schema, params: unknown): unknown {
  if (loaded === undefined) return params;
  const { args, wrongNulls } = loaded(schema, params);
  if (wrongNulls.length === 0) return args;
  throw new Error(`The arguments do not fit this tool. Nothing was sent. ${wrongNulls.join("; ")}.`);
}

/** The same for a tool called through the host's tool search, which refuses every slip. */
export async function repairSearchedParams(schema: Schema, params: unknown): Promise<unknown> {
  await loadRepair();
  return loaded?.(schema, params).args ?? params;
}
