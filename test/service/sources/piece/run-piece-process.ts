import { runPieceChild } from "../../../../src/service/sources/piece/run-piece-child.ts";

/** Carries out one order of a piece as the service does: `node run-piece-process.ts <order as JSON> <package> <folder>`. */
const [order = "", installed = "", folder = ""] = process.argv.slice(2);
const keep = () => new Promise<string>(() => {});
await runPieceChild(JSON.parse(order), { installed, folder, keep, signal: AbortSignal.timeout(600_000) });
