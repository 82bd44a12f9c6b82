import { existsSync, globSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { watchProcess } from "../e2e/watch-process.ts";
import { PACKAGE_ROOT, readJson } from "../package/read-package.ts";

// `npm run test:peers`: the suites of the runtimes with the oldest and with the newest peers, in a copy each; or only
// with those that are named. The versions that package.json pins are what `npm test` runs with.

/** Patterns of the suites to run, by the project of the test configuration they are in. */
const SUITES = {
  tests: ["test/plugin/runtimes/{langchain,library,ai-sdk,openai-agents}", "test/approvals", "test/testing"],
  long: ["test/approvals"],
};
const LEFT_BEHIND = new Set(["node_modules", "dist", ".git", "bench"]);
const laneSchema = z.looseObject({ dependencies: z.record(z.string(), z.string()) });

/** A copy of the project whose peers are those of the lane; everything else is what the project has. */
async function copyProject(lane: string, folder: string): Promise<void> {
  for (const name of await readdir(PACKAGE_ROOT)) {
    if (LEFT_BEHIND.has(name)) continue;
    const filter = (from: string) => basename(from) !== "node_modules";
    await cp(join(PACKAGE_ROOT, name), join(folder, name), { recursive: true, filter });
  }
  const own = laneSchema.parse(readJson(`test/peers/${lane}/package.json`)).dependencies;
  const modules = join(folder, "node_modules");
  for (const name of await listPackages(join(PACKAGE_ROOT, "node_modules"))) {
    if (!(name in own)) await link(join(PACKAGE_ROOT, "node_modules", name), join(modules, name));
  }
  for (const name of Object.keys(own)) {
    await link(join(PACKAGE_ROOT, "test/peers", lane, "node_modules", name), join(modules, name));
  }
}

async function listPackages(modules: string): Promise<string[]> {
  const names = (await readdir(modules)).filter((name) => !name.startsWith("."));
  const inner = names.map(async (name) => {
    return name.startsWith("@") ? (await readdir(join(modules, name))).map((one) => `${name}/${one}`) : [name];
  });
  return (await Promise.all(inner)).flat();
}

async function link(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await symlink(from, to);
}

/** Runs the suites of a project in the copy, prints what they said in one piece, and returns their exit code. */
async function runSuites(lane: string, folder: string, project: keyof typeof SUITES): Promise<number> {
  const suites = SUITES[project].flatMap((pattern) => globSync(pattern, { cwd: folder }));
  const vitest = join(folder, "node_modules/vitest/vitest.mjs");
  const args = [vitest, "run", "--config", "test/vitest.config.ts", "--project", project, ...suites];
  const env = { ...process.env, SVC_TEST_ALL_SUITES: "0", SVC_TEST_DOORS: "peers" };
  const running = watchProcess(process.execPath, args, { cwd: folder, env });
  running.endInput();
  const { code } = await running.done;
  console.log(`With the ${lane} peers, project ${project}:\n${running.output()}`);
  return code;
}

/** Runs the suites with the peers of one lane, in a copy of its own. */
async function runLane(lane: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), `svc-${lane}-peers-`));
  try {
    await copyProject(lane, folder);
    for (const project of ["tests", "long"] as const) {
      if ((await runSuites(lane, folder, project)) !== 0) process.exitCode = 1;
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const lanes = process.argv.length > 2 ? process.argv.slice(2) : ["oldest", "newest"];
for (const lane of lanes) {
  if (!existsSync(join(PACKAGE_ROOT, "test/peers", lane, "node_modules"))) {
    throw new Error(`The ${lane} peers are not installed: npm run peers:install`);
  }
}
// At the same time: the suites wait for much of their time.
await Promise.all(lanes.map(runLane));
