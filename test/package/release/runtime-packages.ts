import { z } from "zod";
import { readJson } from "../read-package.ts";

const entrySchema = z.looseObject({
  version: z.string().optional(),
  license: z.string().optional(),
  integrity: z.string().optional(),
  hasInstallScript: z.boolean().optional(),
  dependencies: z.record(z.string(), z.string()).optional(),
  optionalDependencies: z.record(z.string(), z.string()).optional(),
  peerDependencies: z.record(z.string(), z.string()).optional(),
  peerDependenciesMeta: z.record(z.string(), z.looseObject({ optional: z.boolean().optional() })).optional(),
});
const lockSchema = z.looseObject({ version: z.string(), packages: z.record(z.string(), entrySchema) });

type LockEntry = z.infer<typeof entrySchema>;

/** One package that comes along when somebody installs a package of ours. */
export interface RuntimePackage {
  /** `name@version`. */
  readonly id: string;
  readonly license: string | undefined;
  /** True when npm would run a script of it. */
  readonly hasInstallScript: boolean;
}

/** The lock file of this project. */
export function readLock(): z.infer<typeof lockSchema> {
  return lockSchema.parse(readJson("package-lock.json"));
}

/**
 * Every package of the lock file that `names` bring along, each once: their dependencies, and peers that are not
 * optional.
 *
 * @throws Error when the lock file lacks one
 */
export function listRuntimePackages(names: readonly string[], lock = readLock()): RuntimePackage[] {
  const found = new Map<string, RuntimePackage>();
  const queue = names.map((name) => findPlace(lock.packages, "", name));
  const seen = new Set<string>();
  for (let place = queue.shift(); place !== undefined; place = queue.shift()) {
    if (seen.has(place)) continue;
    seen.add(place);
    const entry = lock.packages[place] ?? {};
    const id = `${place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length)}@${entry.version}`;
    found.set(id, { id, license: entry.license, hasInstallScript: entry.hasInstallScript === true });
    for (const name of listNeeded(entry)) queue.push(findPlace(lock.packages, place, name));
  }
  return [...found.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/**
 * The same of packages that are part of a bundle.
 *
 * @throws Error when the lock file has other versions of one only
 */
export function listBundledPackages(
  bundled: readonly { readonly name: string; readonly version: string }[],
  lock = readLock(),
): RuntimePackage[] {
  return bundled.map(({ name, version }) => {
    const [, entry] =
      Object.entries(lock.packages).find(
        ([place, found]) =>
          found.version === version && /node_modules\/(?!.*node_modules\/)(.*)$/.exec(place)?.[1] === name,
      ) ?? [];
    if (entry === undefined) throw new Error(`package-lock.json has no ${name} ${version} to be bundled.`);
    return { id: `${name}@${version}`, license: entry.license, hasInstallScript: entry.hasInstallScript === true };
  });
}

function listNeeded({ dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta }: LockEntry) {
  const peers = Object.keys(peerDependencies ?? {}).filter((name) => peerDependenciesMeta?.[name]?.optional !== true);
  return [...Object.keys(dependencies ?? {}), ...Object.keys(optionalDependencies ?? {}), ...peers];
}

/** Where Node would find `name` from a folder: the nearest `node_modules` upwards. */
function findPlace(packages: Readonly<Record<string, LockEntry>>, from: string, name: string): string {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("node_modules/") - 1))) {
    const place = `${folder === "" ? "" : `${folder}/`}node_modules/${name}`;
    if (place in packages) return place;
    if (folder === "") throw new Error(`package-lock.json has no ${name} for ${from || "the package"}.`);
  }
}
