import { readdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { bundle } from "./bundle.ts";
import { followImports } from "./follow-imports.ts";
import { PACKAGE_ROOT, readPackage } from "./read-package.ts";
import { runCommand } from "./run-command.ts";

const DECLARATIONS = /\.d\.ts$/;

/** What is imported or started by its name: doors, the command, and a thread. */
const ENTRIES = {
  bin: "src/bin.ts",
  index: "src/index.ts",
  "ai-sdk": "src/ai-sdk.ts",
  langchain: "src/langchain.ts",
  "openai-agents": "src/openai-agents.ts",
  openclaw: "src/openclaw.ts",
  service: "src/service.ts",
  testing: "src/testing.ts",
  "parse-worker": "src/service/integrations/mail/parsing/parse-worker.ts",
};

/**
 * Files of the package, each with what its roots need and no earlier one holds; what is loaded later is in files of its
 * own. The order keeps a door from loading what another is for: a file uses earlier ones only.
 */
const PARTS = [
  { name: "openclaw-entry", roots: ["src/openclaw.ts"] },
  {
    name: "base",
    roots: [
      "src/base/concurrency.ts",
      // Settings and the service need it without a client.
      "src/client/base-url.ts",
      "src/base/disk.ts",
      "src/base/newest.ts",
      "src/base/wildcards.ts",
      "src/wire/plain-text.ts",
    ],
  },
  { name: "wire", roots: ["src/wire/", "src/base/hash.ts"] },
  { name: "schema", roots: ["src/schema/project/project-schema.ts"] },
  { name: "check", roots: ["src/schema/check/"] },
  {
    name: "client",
    roots: [
      "src/client/client.ts",
      "src/calls/catalog/catalog.ts",
      "src/calls/catalog/pins.ts",
      "src/pairing/credentials.ts",
    ],
  },
  { name: "plugin", roots: ["src/index.ts"] },
  { name: "toolkit", roots: ["src/langchain.ts"] },
  { name: "openclaw-later", holds: (path: string) => path.startsWith("src/runtimes/openclaw/") },
  { name: "known-apps", roots: ["src/service/added/known-apps.ts"] },
  { name: "start", roots: ["src/cli/compiled-code.ts"] },
  { name: "cli", roots: ["src/cli/main.ts"] },
  { name: "mail-message", roots: ["src/service/integrations/mail/mail-message.ts", "src/service/files/file-name.ts"] },
  { name: "parse-message", roots: ["src/service/integrations/mail/parsing/parse-message.ts"] },
  { name: "server", roots: ["src/service.ts"] },
];

/** Packages stay imports; a helper of the compiler is no package of ours. */
const isPackage = (specifier: string) => !/^[./\0]|^@oxc-project\//.test(specifier);

/**
 * Builds the sources in `folder` into its `dist`, anew: declarations, and programs in few files, which start faster than
 * many. Leaves out the declarations that no door leads to: only doors can be imported, so that nobody's compiler would
 * ever read the others.
 */
export async function build(folder: string): Promise<void> {
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
  const plan = { folder, out: dist, entries: ENTRIES, parts: PARTS, isExternal: isPackage, entriesMayGrow: false };
  const bundled = await bundle(plan);
  if (bundled.length > 0) throw new Error(`The package holds others: ${bundled.map(({ name }) => name).join(", ")}`);
}

/** Absolute paths of the declarations that the doors of the package in `folder` lead to. */
export async function findDeclarations(folder: string): Promise<ReadonlySet<string>> {
  const doors = Object.values(readPackage().exports).flatMap((door) => (typeof door === "string" ? [] : [door.types]));
  const { files } = await followImports(
    doors.map((door) => resolve(folder, door)),
    (module) => module.replace(/\.[jt]s$/, ".d.ts"),
  );
  return files;
}
