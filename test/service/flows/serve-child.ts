import { startTestService } from "../../../src/testing.ts";

/** Serves the folder given as argument until it is killed; prints one JSON line when it is ready. */
const [dataDir = ""] = process.argv.slice(2);
const { url, apiKey } = await startTestService({
  dataDir,
  log: ({ level, message, cause }) => level === "error" && console.error(message, cause),
});
console.log(JSON.stringify({ url, apiKey }));
