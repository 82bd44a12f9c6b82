import { join } from "node:path";
import { idleApp } from "./idle-app.ts";

/* The service of a built package with the idle app as its only one: `node write-service.ts PACKAGE FOLDER`. */
const [built = "", dataDir = ""] = process.argv.slice(2);
const { createService } = (await import(join(built, "service.js"))) as typeof import("../../src/service.ts");
const service = await createService({ dataDir, port: 0, integrations: [idleApp] });
console.log(`Listening on ${service.url}`);
process.on("SIGTERM", () => void service.close());
