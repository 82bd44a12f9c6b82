import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { type BundledPackage, bundle } from "./bundle.ts";
import { createLicenceText } from "./bundled-licences.ts";
import { PACKAGE_ROOT, readPackage } from "./read-package.ts";
import { runCommand } from "./run-command.ts";

/** Name of the package that OpenClaw installs. */
export const OPENCLAW_PACKAGE = "svc-agent-plugin-openclaw";

const ENTRY = "src/openclaw.ts";
const TAKEN = ["openclaw.plugin.json", "skills"];
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
 * copies every file of a plugin and of its dependencies each time it loads it, so that there are a dozen.
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
  await writeFile(join(copy, "README.md"), createReadme());
  const pack = await runCommand("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", folder], copy);
  if (pack.code !== 0) throw new Error(`npm pack failed:\n${pack.stderr}`);
  const [{ filename, files, unpackedSize }] = packedSchema.parse(JSON.parse(pack.stdout));
  return { path: join(folder, filename), files, unpackedSize, bundled };
}

function createPackageJson() {
  const { version, license, repository, type, engines, openclaw, peerDependencies } = readPackage();
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
    peerDependencies: { openclaw: peerDependencies.openclaw },
    peerDependenciesMeta: { openclaw: { optional: true } },
  };
}

function createReadme(): string {
  return `# svc for OpenClaw

The OpenClaw side of \`svc-agent-plugin\`, made from the same sources: only what OpenClaw loads, in few files, so that it
loads quickly. \`dist/openclaw.js\` is what OpenClaw loads at its start, \`dist/calls.js\` what a first call loads, with the
name of each source above its code; \`dist/packages.js\` holds the packages they use, whose licences are in \`LICENSE\`.

Install it with \`openclaw plugins install npm-pack:<this file>\`, then pair it with \`/login svc\` in a chat or
\`openclaw svc pair\` in a terminal. The guide is \`docs/openclaw.md\` of \`svc-agent-plugin\`.
`;
}
