import { writeFile } from "node:fs/promises";
import { readOwnTools } from "./read-own-tools.ts";

/** Writes the definitions that OpenClaw registers without loading the rooms behind them; format the result after it. */
const FILE = new URL("../../../src/runtimes/openclaw/static-definitions.ts", import.meta.url);

const text = `/** One tool that is always there, as data: nothing behind it is loaded to show it. */
export interface StaticDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly schema: Readonly<Record<string, unknown>>;
}

/**
 * The static tools and the flow tools. Written by \`node test/runtimes/openclaw/write-static-definitions.ts\`; a test
 * holds them equal to the rooms that own them.
 */
export const STATIC_DEFINITIONS: readonly StaticDefinition[] = ${JSON.stringify(await readOwnTools(), null, 2)};
`;
await writeFile(FILE, text);
