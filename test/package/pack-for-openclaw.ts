import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { type BundledPackage, bundle } from "./bundle.ts";
import { createLicenceText } from "./bundled-licences.ts";
import { PACKAGE_ROOT, readPackage } from "./read-package.ts";
import { runCommand } from "./run-command.ts";

/** Name of the package that OpenClaw installs. */
export const OPENCLAW_PACKAGE = "svc-agent-plugin-openclaw";

const ENTRY = "src/openclaw.ts";
const TAKEN = ["openclaw.plugin.json", "skills", "assets/icon.png"];
const packedSchema = z.tuple([
  z.looseObject({
    filename: z.string(),
    unpackedSize: z.number(),
    files: z.array(z.object({ path: z.string(), size: z.number() })),
  }),
]);

/** The tarball for OpenClaw and what it is made of. */
export interface PackedForOpenClaw {
  /** Absolute path. */
  readonly path: string;
  readonly files: readonly { readonly path: string; readonly size: number }[];
  /** In bytes, once it is installed. */
  readonly unpackedSize: number;
  /** What the files hold of other packages. */
  readonly bundled: readonly BundledPackage[];
}

/** The host provides its own; what colours a debug log is used where it happens to be there. */
const LEFT_OUT = /^(openclaw\/|supports-color$)/;

/**
 * Packs what the OpenClaw entry reaches, packages included, as a package of its own that depends on nothing: OpenClaw
 * copies every file of a plugin and of its dependencies each time it loads it, so that there are few.
 *
 * @param checkout folder with the sources and `node_modules`
 * @param folder where the tarball is put, together with the files it is made of
 */
export async function packForOpenClaw(checkout: string, folder: string): Promise<PackedForOpenClaw> {
  const copy = join(folder, "openclaw-package");
  const bundled = await bundle({
    folder: checkout,
    out: join(copy, "dist"),
    entries: { openclaw: ENTRY },
    entriesMayGrow: true,
    isExternal: (specifier) => LEFT_OUT.test(specifier),
    parts: [
      { name: "openclaw", roots: [ENTRY] },
      { name: "packages", holds: (path) => path.startsWith("node_modules/") },
      { name: "calls", holds: () => true },
    ],
  });
  for (const part of TAKEN) await cp(join(PACKAGE_ROOT, part), join(copy, part), { recursive: true });
  await writeFile(join(copy, "LICENSE"), await createLicenceText(bundled));
  await writeFile(join(copy, "package.json"), `${JSON.stringify(createPackageJson(), undefined, 2)}\n`);
  const guide = await readFile(join(PACKAGE_ROOT, "docs/openclaw.md"), "utf8");
  await writeFile(join(copy, "README.md"), createReadme(guide));
  const pack = await runCommand("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", folder], copy);
  if (pack.code !== 0) throw new Error(`npm pack failed:\n${pack.stderr}`);
  const [{ filename, files, unpackedSize }] = packedSchema.parse(JSON.parse(pack.stdout));
  return { path: join(folder, filename), files, unpackedSize, bundled };
}

function createPackageJson() {
  const { version, license, author, homepage, repository, type, engines, openclaw, peerDependencies } = readPackage();
  return {
    name: OPENCLAW_PACKAGE,
    version,
    description:
      "svc for OpenClaw: an agent acts on mail, files, notes and other apps, and a human approves every write.",
    keywords: ["openclaw", "openclaw-plugin", "svc", "integrations", "mail", "files", "notes", "mcp", "approval"],
    license,
    author,
    homepage,
    repository,
    type,
    engines,
    files: ["dist", "skills", "assets", "openclaw.plugin.json"],
    openclaw,
    peerDependencies: { openclaw: peerDependencies.openclaw },
    peerDependenciesMeta: { openclaw: { optional: true } },
  };
}

/** The guide, which a person with the tarball alone can read: links to other pages stay as their words. */
function createReadme(guide: string): string {
  const [, text = guide] = guide.split(/^# OpenClaw\n\n/);
  return `# svc for OpenClaw

${text.replace(/\[([^\]]+)\]\((?!#|https?:)[^)]+\)/g, "$1").trim()}

## This package

It is the OpenClaw side of \`svc-agent-plugin\`, made from the same sources: only what OpenClaw loads, in few files, since
OpenClaw copies all of them at every load. \`dist/openclaw.js\` is loaded at its start, \`dist/calls.js\` by a first call,
with the name of each source above its code; \`dist/packages.js\` holds the packages they use, whose licences are in
\`LICENSE\`.
`;
}
