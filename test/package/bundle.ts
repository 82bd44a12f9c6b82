import { existsSync, readdirSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { decode, encode, type SourceMapLine } from "@jridgewell/sourcemap-codec";
import { type OutputChunk, rolldown } from "rolldown";
import { z } from "zod";
import { toFileName } from "./bundled-packages.ts";
import { readPackage } from "./read-package.ts";

/** A file of a bundle and what belongs into it, unless an earlier one has taken it. */
interface Part {
  readonly name: string;
  /** Sources that belong here with everything they import statically; a folder, ending in `/`, stands for its files. */
  readonly roots?: readonly string[];
  /** True for modules that belong here unless a root of an earlier part reaches them. Gets a path below the folder. */
  readonly holds?: (path: string) => boolean;
}

/** What a bundle is made of. Paths are below `folder`. */
export interface BundlePlan {
  /** Folder of the package: its sources, and `node_modules`. */
  readonly folder: string;
  /** Folder that the files are written to. */
  readonly out: string;
  /** Sources by the names of the files that are imported or started. */
  readonly entries: Readonly<Record<string, string>>;
  readonly parts: readonly Part[];
  /** True for an import that stays one; what is of Node itself always does. */
  readonly isExternal: (specifier: string) => boolean;
  /** Whether an entry may export more than its source does, for other files of the bundle; otherwise it is a door. */
  readonly entriesMayGrow: boolean;
}

const manifestSchema = z.looseObject({
  version: z.string(),
  author: z.union([z.string(), z.looseObject({ name: z.string() })]).optional(),
});

/** A package that is in a bundle. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** The text it wants kept; undefined where the package holds none. */
  readonly licence: string | undefined;
  readonly author: string | undefined;
}

const PACKAGE_FOLDER = /^(.*\bnode_modules\/((?:@[^/]+\/)?[^/]+))\//;
/** What the bundler has packages call for modules of Node. At load it would need the address of the file, which a program that is bundled once more has not. */
const RUNTIME_REQUIRE = "var __require = (() => createRequire(import.meta.url))();";
const BUILTIN_REQUIRE = `var __require = (id) => {
	const found = globalThis.process.getBuiltinModule(id);
	if (found === undefined) throw Object.assign(new Error("Cannot find module " + id), { code: "MODULE_NOT_FOUND" });
	return found;
};`;
const REQUIRE_IMPORT = 'import { createRequire } from "node:module";\n';

/** An import of these has Node read all they export, and so load streams and threads: 4 ms of what a command takes. */
const COSTLY_IMPORT = /^import (\w+|\{ .* \}) from "(node:(?:process|util))";$/gm;
const SOURCE_MAP_LINE = /\n\/\/# sourceMappingURL=.*\s*$/;
const LICENCE_FILE = /^(licen[cs]e|copying)\b/i;

/**
 * Bundles sources without making them unreadable: names, line ends and the path of each module stay. A file with own
 * code has a source map; what comes from packages stands in the bundle as it was. Equal sources give equal bytes.
 *
 * @returns the packages that are in the bundle, by name
 * @throws Error for anything that the bundler warns of
 */
export async function bundle(plan: BundlePlan): Promise<BundledPackage[]> {
  const build = await rolldown({
    cwd: plan.folder,
    input: plan.entries,
    platform: "node",
    external: (specifier) => specifier.startsWith("node:") || plan.isExternal(specifier),
    // Paths in the bundle are those below the folder, also where node_modules is a link. A package that names modules is
    // taken at its word: its other form may load files of its own by a function that no bundler follows.
    resolve: { symlinks: false, mainFields: ["module", "main"] },
    preserveEntrySignatures: plan.entriesMayGrow ? "allow-extension" : "exports-only",
    transform: { define: { SVC_VERSION: JSON.stringify(readPackage().version) } },
    // How long it takes is no fault: on a machine with much to do it is long.
    checks: { ineffectiveDynamicImport: false, bundlerTimings: false },
    logLevel: "warn",
    onLog: (_level, { message }) => {
      throw new Error(`The bundler says:\n${message}`);
    },
  });
  const { output } = await build.generate({
    entryFileNames: "[name].js",
    chunkFileNames: ({ facadeModuleId }) => `${nameFacade(plan.folder, facadeModuleId) ?? "[name]"}.js`,
    sourcemap: true,
    sourcemapExcludeSources: true,
    minifyInternalExports: false,
    comments: { legal: true, annotation: false, jsdoc: false },
    codeSplitting: { groups: createGroups(plan) },
  });
  await build.close();
  const chunks = output.filter((one) => one.type === "chunk");
  await mkdir(plan.out, { recursive: true });
  for (const chunk of chunks) await writeChunk(plan, chunk);
  return listPackages(chunks);
}

function createGroups({ folder, parts }: BundlePlan) {
  let places: ReadonlyMap<string, string> | undefined;
  return parts.map(({ name, holds }, index) => ({
    debugName: name,
    priority: parts.length - index,
    name: (id: string, context: { getModuleInfo: GetModule }) => {
      places ??= findPlaces(folder, parts, (one) => context.getModuleInfo(one));
      const place = places.get(id);
      if (place !== undefined) return place === name ? name : null;
      return holds?.(toPath(folder, id)) ? name : null;
    },
  }));
}

/** A file that only hands on what a package exports is named after it. */
function nameFacade(folder: string, id: string | null): string | undefined {
  const [, , name] = id === null ? [] : (PACKAGE_FOLDER.exec(toPath(folder, id)) ?? []);
  return name === undefined ? undefined : `${toFileName(name)}-[name]`;
}

type GetModule = (id: string) => { readonly importedIds: readonly string[] } | null;

/** The part of every module that is reached from a root without an import that waits. */
function findPlaces(folder: string, parts: readonly Part[], getModule: GetModule): ReadonlyMap<string, string> {
  const places = new Map<string, string>();
  for (const [index, { name, roots = [] }] of parts.entries()) {
    const earlier = parts.slice(0, index);
    const queue = roots.flatMap((root) => listSources(join(folder, root)));
    for (const id of queue) {
      if (places.has(id) || earlier.some(({ holds }) => holds?.(toPath(folder, id)))) continue;
      places.set(id, name);
      queue.push(...(getModule(id)?.importedIds ?? []));
    }
  }
  return places;
}

const listSources = (path: string) => (path.endsWith(sep) ? readdirSync(path).map((name) => join(path, name)) : [path]);

/** A path as specifiers and archives write it, on every system. */
export const toSlashes = (path: string) => path.split(sep).join("/");

const toPath = (folder: string, id: string) => toSlashes(relative(folder, id));

/** The map has one mark for each line of ours, which is what a stack trace needs; there is none where nothing is. */
async function writeChunk({ out, folder }: BundlePlan, { fileName, moduleIds, map, code }: OutputChunk): Promise<void> {
  const file = join(out, fileName);
  const own = code.includes(RUNTIME_REQUIRE)
    ? code.replace(REQUIRE_IMPORT, "").replace(RUNTIME_REQUIRE, BUILTIN_REQUIRE)
    : code;
  const plain = own.replace(SOURCE_MAP_LINE, "").replaceAll(COSTLY_IMPORT, (_, names: string, module: string) => {
    return `const ${names.replaceAll(" as ", ": ")} = globalThis.process.getBuiltinModule("${module}");`;
  });
  if (map === null || !moduleIds.some((id) => toPath(folder, id).startsWith("src/"))) return writeFile(file, plain);
  const sources = map.sources.filter(isOurs);
  const places = new Map(sources.map((source, place) => [source, place]));
  const lines = decode(map.mappings).map(([first]): SourceMapLine => {
    if (first === undefined || first.length === 1) return [];
    const place = places.get(map.sources[first[1]] ?? "");
    return place === undefined ? [] : [[0, place, first[2], first[3]]];
  });
  const mappings = encode(lines);
  const { version } = map;
  await writeFile(file, `${plain}//# sourceMappingURL=${fileName}.map\n`);
  await writeFile(`${file}.map`, JSON.stringify({ version, file: fileName, sources, names: [], mappings }));
}

const isOurs = (source: string) => !source.includes("node_modules/");

/** The package that a file belongs to. One that was built into another, without its package.json, is a part of that one. */
function findPackage(id: string): { readonly place: string; readonly name: string } | undefined {
  const [, place, name] = PACKAGE_FOLDER.exec(id) ?? [];
  if (place === undefined || name === undefined) return undefined;
  if (existsSync(join(place, "package.json"))) return { place, name };
  return findPackage(place.slice(0, place.lastIndexOf("node_modules")));
}

async function listPackages(chunks: readonly OutputChunk[]): Promise<BundledPackage[]> {
  const places = new Map<string, string>();
  for (const id of chunks.flatMap(({ moduleIds }) => moduleIds.map(toSlashes))) {
    const found = findPackage(id);
    if (found !== undefined) places.set(found.place, found.name);
    else if (id.includes("/node_modules/"))
      throw new Error(`No package is known for ${id}, so its licence is missing.`);
  }
  const found = [...places].map(async ([place, name]) => {
    const { version, author } = manifestSchema.parse(JSON.parse(await readFile(join(place, "package.json"), "utf8")));
    const file = (await readdir(place)).sort().find((one) => LICENCE_FILE.test(one));
    const licence = file === undefined ? undefined : (await readFile(join(place, file), "utf8")).trim();
    return { name, version, licence, author: typeof author === "string" ? author : author?.name };
  });
  return (await Promise.all(found)).sort((a, b) => (a.name < b.name ? -1 : 1));
}
