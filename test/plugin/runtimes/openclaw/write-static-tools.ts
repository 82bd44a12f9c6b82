import { writeFile } from "node:fs/promises";
import { readOwnTools } from "./read-own-tools.ts";

/** Writes the definitions that OpenClaw registers without loading the rooms behind them; format the result after it. */
const FILE = new URL("../../../../src/plugin/runtimes/openclaw/static-tools.json", import.meta.url);

await writeFile(FILE, `${JSON.stringify(await readOwnTools(), null, 2)}\n`);
