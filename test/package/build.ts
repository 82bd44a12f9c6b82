import { copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { type BundledPackage, bundle, toSlashes } from "./bundle.ts";
import { createLicenceText } from "./bundled-licences.ts";
import { listOutside, planPackageFiles } from "./bundled-packages.ts";
import { followImports } from "./follow-imports.ts";
import { PACKAGE_ROOT, readPackage } from "./read-package.ts";
import { runCommand } from "./run-command.ts";

const DECLARATIONS = /\.d\.ts$/;
const PACKAGE_NAME = /^.*\bnode_modules\/((?:@[^/]+\/)?[^/]+)\//;

/** What is imported or started by its name: doors, the command, and threads. */
const ENTRIES = {
  bin: "src/bin.ts",
  index: "src/index.ts",
  "ai-sdk": "src/ai-sdk.ts",
  langchain: "src/langchain.ts",
  "openai-agents": "src/openai-agents.ts",
  openclaw: "src/openclaw.ts",
  service: "src/service.ts",
  testing: "src/testing.ts",
  "parse-worker": "src/apps/mail/parsing/parse-worker.ts",
  "feed-worker": "src/apps/feeds/feed-worker.ts",
};

/**
 * Files of the package, each with what its roots need and no earlier one holds; what is loaded later is in files of its
 * own. The order keeps a door from loading what another is for: a file uses earlier ones only.
 */
const OWN_PARTS = [
  // What every other one uses.
  { name: "values", roots: ["src/shared/errors.ts", "src/shared/base/json.ts", "src/plugin/client/redact.ts"] },
  { name: "openclaw-entry", roots: ["src/openclaw.ts"] },
  // Apart from what loads node:crypto, which a command that prints its version need not do.
  { name: "text", roots: ["src/shared/base/version.ts", "src/shared/card/plain-text.ts"] },
  {
    name: "base",
    roots: [
      "src/shared/base/concurrency.ts",
      // Settings and the service need it without a client.
      "src/plugin/client/base-url.ts",
      "src/shared/base/disk.ts",
      "src/shared/base/windows-names.ts",
      "src/shared/base/write-lock.ts",
      "src/shared/base/newest.ts",
      "src/shared/base/wildcards.ts",
      "src/shared/base/tool-budget.ts",
    ],
  },
  // Apart from what every door loads: both MCP servers need it.
  {
    name: "mcp-extensions",
    roots: ["src/shared/wire/mcp-skill.ts", "src/shared/wire/mcp-app.ts", "src/shared/card/approval-app.ts"],
  },
  { name: "wire", roots: ["src/shared/wire/", "src/shared/card/", "src/shared/base/hash.ts"] },
  { name: "schema", roots: ["src/plugin/schema/project/project-schema.ts"] },
  { name: "check", roots: ["src/shared/schema-check/"] },
  {
    name: "client",
    roots: [
      "src/plugin/client/client.ts",
      "src/plugin/calls/catalog/catalog.ts",
      "src/plugin/calls/catalog/pins.ts",
      "src/plugin/pairing/credentials.ts",
    ],
  },
  // Apart from the terminal, pairing and the toolbox, which no framework needs.
  { name: "session", roots: ["src/plugin/calls/", "src/plugin/calls/catalog/offer-tools.ts"] },
  { name: "plugin", roots: ["src/index.ts"] },
  { name: "toolkit", roots: ["src/langchain.ts"] },
  { name: "openclaw-later", holds: (path: string) => path.startsWith("src/plugin/runtimes/openclaw/") },
  { name: "known-apps", roots: ["src/apps/known/known-apps.ts"] },
  { name: "start", roots: ["src/cli/compiled-code.ts"] },
  { name: "cli", roots: ["src/cli/main.ts"] },
  { name: "mail-message", roots: ["src/apps/mail/mail-message.ts", "src/service/files/file-name.ts"] },
  { name: "parse-message", roots: ["src/apps/mail/parsing/parse-message.ts"] },
  { name: "server", roots: ["src/service.ts"] },
];

/** Files of their own for packages, before all of ours. */
const createPackageParts = () =>
  [...planPackageFiles()].map(([name, packages]) => ({
    name,
    holds: (path: string) => packages.includes(PACKAGE_NAME.exec(path)?.[1] ?? ""),
  }));

/**
 * Builds the sources in `folder` into its `dist`, anew: declarations, and programs in few files, which start faster than
 * many. Packages that npm does not install beside ours become part of it, as far as they are used, and with their
 * licences. Leaves out the declarations that no door leads to: only doors can be imported, so that nobody's compiler
 * would ever read the others.
 *
 * @returns the packages that are part of it
 */
export async function build(folder: string): Promise<BundledPackage[]> {
  const dist = join(folder, "dist");
  await rm(dist, { recursive: true, force: true });
  const tsc = join(PACKAGE_ROOT, "node_modules/typescript/bin/tsc");
  const args = [tsc, "-p", "src/tsconfig.build.json", "--emitDeclarationOnly"];
  const built = await runCommand(process.execPath, args, folder);
  if (built.code !== 0) throw new Error(`The build failed:\n${built.stdout}${built.stderr}`);
  const reached = await findDeclarations(folder);
  for (const path of await readdir(dist, { recursive: true })) {
    const file = join(dist, path);
    if (DECLARATIONS.test(path) && !reached.has(file)) await rm(file);
  }
  await takeZodTypes(folder, reached);
  const bundled = await buildPrograms(folder, dist);
  await writeFile(join(dist, "packages/licences.txt"), await createLicenceText(bundled));
  return bundled;
}

/**
 * Writes the programs of the package in `folder` into `out`.
 *
 * @returns the packages that are part of them
 */
export async function buildPrograms(folder: string, out: string): Promise<BundledPackage[]> {
  const outside = listOutside();
  await mkdir(join(out, "packages"), { recursive: true });
  return bundle({
    folder,
    out,
    entries: ENTRIES,
    parts: [...createPackageParts(), ...OWN_PARTS],
    isExternal: (specifier) => outside.some((name) => specifier === name || specifier.startsWith(`${name}/`)),
    entriesMayGrow: false,
  });
}

/** Copies the types of zod that our declarations name, so that nobody's compiler looks for a zod of theirs. */
async function takeZodTypes(folder: string, declarations: ReadonlySet<string>): Promise<void> {
  const from = join(folder, "node_modules/zod");
  const to = join(folder, "dist/packages/zod");
  const { files } = await followImports([join(from, "index.d.ts")], toDeclaration);
  for (const file of files) {
    const copy = join(to, relative(from, file));
    await mkdir(dirname(copy), { recursive: true });
    await copyFile(file, copy);
  }
  for (const file of declarations) {
    const text = await readFile(file, "utf8");
    const path = toSlashes(relative(dirname(file), join(to, "index.js")));
    const own = text.replaceAll('from "zod"', `from "${path.startsWith(".") ? path : `./${path}`}"`);
    if (own !== text) await writeFile(file, own);
  }
}

const toDeclaration = (module: string) => module.replace(/\.[jt]s$/, ".d.ts");

/** Absolute paths of the declarations that the doors of the package in `folder` lead to. */
export async function findDeclarations(folder: string): Promise<ReadonlySet<string>> {
  const doors = Object.values(readPackage().exports).flatMap((door) => (typeof door === "string" ? [] : [door.types]));
  const { files } = await followImports(
    doors.map((door) => resolve(folder, door)),
    toDeclaration,
  );
  return files;
}
