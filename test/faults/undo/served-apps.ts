import { startTestService } from "../../../src/testing.ts";

/**
 * Serves the apps of a data folder, with a send delay in seconds, until it is killed. The clock runs ahead by 20 seconds two seconds after the start, so that
 * what was cut off is looked for without a wait.
 */
const [dataDir = "", sendDelay = "0"] = process.argv.slice(2);
const startedAt = Date.now();
const now = () => Date.now() + (Date.now() - startedAt > 2000 ? 20_000 : 0);
const { url, apiKey } = await startTestService({ dataDir, now, heartbeatMs: 100, sendDelay: Number(sendDelay) });
console.log(JSON.stringify({ url, apiKey }));
