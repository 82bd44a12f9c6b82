import { openStore } from "../../src/service/store/open-store.ts";
import { forgetEnded, forgetExpired } from "../../src/service/store/retention.ts";
import { readCpu } from "../processes/read-usage.ts";
import type { Cost } from "./cost.ts";

/* One upkeep of a store, as the service does it each hour: `node upkeep-sample.ts DATABASE DAYS`, with what is kept. */

const [database = "", days = ""] = process.argv.slice(2);
const store = await openStore(database);
const time = Date.now();
const before = process.cpuUsage();
const begun = performance.now();
await forgetExpired(store, time);
await forgetEnded({ store, time, days: Number(days), isStopping: () => false });
const cost: Cost = { ms: performance.now() - begun, cpuMs: readCpu(before) };
await store.destroy();
console.log(JSON.stringify(cost));
