import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { z } from "zod";
import { listBundledNames } from "../bundled-packages.ts";
import { PACKAGE_ROOT, readJson, readPackage } from "../read-package.ts";
import { runCommand } from "../run-command.ts";
import { findAuditProblems } from "./audit.ts";
import { findLicenceProblems } from "./licences.ts";
import { makeRelease } from "./make-release.ts";
import { listRuntimePackages, readLock } from "./runtime-packages.ts";
import { findVersionProblems } from "./versions.ts";

// `npm run release:check`: everything that has to be so before a release, then what would be published.
const { values } = parseArgs({ options: { "without-tests": { type: "boolean", default: false } } });
const versioned = z.looseObject({ version: z.string() });
const problems: string[] = [];

/** Runs one check and tells at once what it found. */
async function check(what: string, find: () => readonly string[] | Promise<readonly string[]>): Promise<void> {
  const found = await find();
  problems.push(...found);
  console.log(`${found.length === 0 ? "good" : "NOT "}  ${what}`);
  for (const problem of found) console.log(`      ${problem.replaceAll("\n", "\n      ")}`);
}

const run = (file: string, ...args: string[]) => runCommand(file, args, PACKAGE_ROOT);

await check("nothing uncommitted", async () => {
  const { stdout } = await run("git", "status", "--porcelain");
  return stdout === "" ? [] : [`Commit or remove:\n${stdout.trimEnd()}`];
});
await check("one version everywhere", () =>
  findVersionProblems({
    package: readPackage().version,
    lock: readLock().version,
    pluginManifest: versioned.parse(readJson("plugin.manifest.json")).version,
    hostManifest: versioned.parse(readJson("openclaw.plugin.json")).version,
    changelog: readFileSync(join(PACKAGE_ROOT, "CHANGELOG.md"), "utf8"),
  }),
);
await check("a repository for the provenance to name", () =>
  "repository" in readPackage() ? [] : ['npm refuses provenance without "repository" in package.json.'],
);
const packages = listRuntimePackages([...Object.keys(readPackage().dependencies), ...listBundledNames()]);
await check(`licences of ${packages.length} packages`, () => findLicenceProblems(packages));
await check("no install scripts", () => packages.filter((one) => one.hasInstallScript).map(({ id }) => id));
await check("npm audit", async () =>
  findAuditProblems((await run("npm", "audit", "--json")).stdout, new Date(), packages),
);
await check("npm audit signatures", async () => {
  const { code, stderr, stdout } = await run("npm", "audit", "signatures");
  return code === 0 ? [] : [`${stdout}${stderr}`.trim() || "No answer."];
});
await check("every test", async () => {
  if (values["without-tests"]) return ["Left out by --without-tests."];
  const ci = spawn(join(PACKAGE_ROOT, ".ci/run"), { stdio: "inherit" });
  const [code] = await once(ci, "close");
  return code === 0 ? [] : [`.ci/run ended with ${code}.`];
});

const folder = await mkdtemp(join(tmpdir(), "svc-release-"));
const work = join(folder, "work");
await mkdir(work);
await check("tarballs, software bills and checksums", async () => {
  const { stdout } = await run("git", "log", "-1", "--format=%cI");
  const release = await makeRelease(folder, work, new Date(stdout.trim()).toISOString());
  return release.problems;
});
await rm(problems.length > 0 ? folder : work, { recursive: true });

if (problems.length > 0) {
  console.log(
    `\n${problems.length} ${problems.length === 1 ? "thing keeps" : "things keep"} this from being a release.`,
  );
  process.exitCode = 1;
} else {
  const { name, version } = readPackage();
  console.log(`\nEverything to publish is in ${folder}.`);
  console.log(`In a CI job that npm trusts as the publisher, with the commit tagged v${version}:`);
  for (const one of [name, `${name}-openclaw`]) {
    console.log(`  npm publish ${folder}/${one}-${version}.tgz --provenance --access public`);
  }
}
