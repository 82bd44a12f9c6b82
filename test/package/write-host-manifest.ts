import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createHostManifest } from "./create-host-manifest.ts";
import { PACKAGE_ROOT, readJson } from "./read-package.ts";

// Run with `npx node test/package/write-host-manifest.ts` after a change of plugin.manifest.json, then `npm run format`.
const text = JSON.stringify(createHostManifest(readJson("plugin.manifest.json")), undefined, 2);
writeFileSync(join(PACKAGE_ROOT, "openclaw.plugin.json"), `${text}\n`);
