import { createToolSession } from "../../src/plugin/calls/session.ts";
import { readCpu } from "../processes/read-usage.ts";
import type { Cost } from "./cost.ts";

/*
 * One session of the plugin: `node session-sample.ts URL KEY STATE_DIR` loads the list of tools and finds one by search,
 * which is its first answer.
 */

/** What one session took, with the list that it has. */
export interface SessionSample extends Cost {
  readonly tools: number;
}

const [baseUrl = "", apiKey = "", stateDir = ""] = process.argv.slice(2);
const before = process.cpuUsage();
const begun = performance.now();
const session = await createToolSession({ baseUrl, apiKey, stateDir });
const { tools } = await session.catalog.load();
await session.catalog.search({ query: "number 50" });
const sample: SessionSample = { ms: performance.now() - begun, cpuMs: readCpu(before), tools };
await session.close();
console.log(JSON.stringify(sample));
