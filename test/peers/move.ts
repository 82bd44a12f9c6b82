import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { PACKAGE_ROOT, readJson } from "../package/read-package.ts";
import { runCommand } from "../package/run-command.ts";

// `npm run peers:move`: the newest peers become those that npm gives today.

const PLACE = join(PACKAGE_ROOT, "test/peers/newest");
const laneSchema = z.looseObject({ dependencies: z.record(z.string(), z.string()) });
const lane = laneSchema.parse(readJson("test/peers/newest/package.json"));

for (const [name, had] of Object.entries(lane.dependencies)) {
  const { code, stdout, stderr } = await runCommand("npm", ["view", name, "version"], PLACE);
  if (code !== 0) throw new Error(`npm knows no version of ${name}:\n${stderr}`);
  lane.dependencies[name] = stdout.trim();
  if (stdout.trim() !== had) console.log(`${name}: ${had} -> ${stdout.trim()}`);
}
writeFileSync(join(PLACE, "package.json"), `${JSON.stringify(lane, undefined, 2)}\n`);
const install = await runCommand("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund"], PLACE);
if (install.code !== 0) throw new Error(`npm install failed:\n${install.stderr}`);
