import { cp, mkdir, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { z } from "zod";
import { followImports } from "./follow-imports.ts";
import { PACKAGE_ROOT, readPackage } from "./read-package.ts";
import { runCommand } from "./run-command.ts";

/** Name of the package that OpenClaw installs. */
export const OPENCLAW_PACKAGE = "svc-agent-plugin-openclaw";

const TAKEN = ["LICENSE", "openclaw.plugin.json", "skills"];
const packedSchema = z.tuple([
  z.looseObject({ filename: z.string(), size: z.number(), files: z.array(z.object({ path: z.string() })) }),
]);

/** The tarball for OpenClaw and what it is made of. */
export interface PackedForOpenClaw {
  /** Absolute path. */
  readonly path: string;
  /** Paths in the package. */
  readonly files: readonly string[];
  readonly dependencies: Readonly<Record<string, string>>;
}

/**
 * Packs what the OpenClaw entry reaches, and nothing else, as a package of its own: OpenClaw copies every file of a
 * plugin and of its dependencies each time it loads it, and the service half has most of them.
 *
 * @param built folder of a finished build (`dist`)
 * @param folder where the tarball is put, together with the files it is made of
 */
export async function packForOpenClaw(built: string, folder: string): Promise<PackedForOpenClaw> {
  const copy = join(folder, "openclaw-package");
  const { files: modules, packages } = await followImports([join(built, "openclaw.js")]);
  for (const module of modules) {
    const target = join(copy, "dist", relative(built, module));
    await mkdir(dirname(target), { recursive: true });
    await cp(module, target);
  }
  for (const part of TAKEN) await cp(join(PACKAGE_ROOT, part), join(copy, part), { recursive: true });
  const manifest = createPackageJson(packages);
  await writeFile(join(copy, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
  await writeFile(join(copy, "README.md"), createReadme());
  const pack = await runCommand("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", folder], copy);
  if (pack.code !== 0) throw new Error(`npm pack failed:\n${pack.stderr}`);
  const [{ filename, files }] = packedSchema.parse(JSON.parse(pack.stdout));
  return { path: join(folder, filename), files: files.map(({ path }) => path), dependencies: manifest.dependencies };
}

function createPackageJson(specifiers: ReadonlySet<string>) {
  const { name: _, ...own } = readPackage();
  const wanted = [...specifiers].filter((name) => !name.startsWith("node:") && !name.startsWith("openclaw/"));
  const names = new Set(wanted.map((name) => name.split("/", name.startsWith("@") ? 2 : 1).join("/")));
  const dependencies = Object.fromEntries(
    [...names].sort().map((name) => {
      const version = own.dependencies[name];
      if (version === undefined) throw new Error(`The OpenClaw entry imports ${name}, which is no dependency.`);
      return [name, version];
    }),
  );
  const { version, license, repository, type, engines, openclaw } = own;
  return {
    name: OPENCLAW_PACKAGE,
    version,
    description:
      "svc for OpenClaw: an agent acts on mail, files, notes and other apps, and a human approves every write.",
    license,
    repository,
    type,
    engines,
    files: ["dist", "skills", "openclaw.plugin.json"],
    openclaw,
    dependencies,
    peerDependencies: { openclaw: own.peerDependencies.openclaw },
    peerDependenciesMeta: { openclaw: { optional: true } },
  };
}

function createReadme(): string {
  return `# svc for OpenClaw

The OpenClaw side of \`svc-agent-plugin\`, made from the same sources: only what OpenClaw loads, so that it loads quickly.

Install it with \`openclaw plugins install npm-pack:<this file>\`, then pair it with \`/login svc\` in a chat or
\`openclaw svc pair\` in a terminal. The guide is \`docs/openclaw.md\` of \`svc-agent-plugin\`.
`;
}
