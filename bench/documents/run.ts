import { readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { extname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { parse } from "yaml";
import type { prepareOpenApi } from "../../src/apps/openapi/prepare-openapi.ts";

/*
 * Counts what becomes of OpenAPI documents that packages ship. `--packages` is a folder outside the project, with the packages
 * and Ajv 8 installed in it; `--src` is the source tree that is counted, by default this one; `--every N` takes each Nth file, and `--list` names a file with their paths, one a line.
 *
 *     node bench/documents/run.ts --packages FOLDER [--src OTHER/src] [--every 10] [--list FILE]
 */

const METHODS = ["get", "head", "post", "put", "patch", "delete"];
const LONGEST = 30_000_000;

const { values } = parseArgs({
  options: {
    packages: { type: "string" },
    src: { type: "string", default: join(import.meta.dirname, "../../src") },
    every: { type: "string", default: "1" },
    list: { type: "string" },
  },
});

type Json = Record<string, unknown>;
type Compile = (schema: unknown) => void;

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function listFiles(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
  return files.filter((path) => /\.(?:json|ya?ml)$/.test(path) && statSync(path).isFile()).sort();
}

function readIfDocument(path: string): Json | undefined {
  if (statSync(path).size > LONGEST) return undefined;
  const text = readFileSync(path, "utf8");
  if (!/["']?(?:openapi|swagger)["']?\s*:/.test(text)) return undefined;
  try {
    const value: unknown = extname(path) === ".json" ? JSON.parse(text) : parse(text, { logLevel: "silent" });
    const isDocument = isObject(value) && (value.openapi ?? value.swagger) !== undefined && isObject(value.paths);
    return isDocument && Object.keys(value.paths as Json).length > 0 ? value : undefined;
  } catch {
    return undefined;
  }
}

function listOperations({ paths }: Json): string[] {
  return Object.entries(isObject(paths) ? paths : {}).flatMap(([path, item]) =>
    METHODS.filter((method) => isObject(item) && isObject(item[method])).map((m) => `${m.toUpperCase()} ${path}`),
  );
}

/** Compilers of draft 2020-12: as validators take a schema, and with every unknown keyword refused. */
function createCompilers(folder: string): { plain: Compile; strict: Compile } {
  const { Ajv2020 } = createRequire(join(folder, "at.js"))("ajv/dist/2020.js") as {
    Ajv2020: new (options: object) => { compile: Compile; removeSchema: Compile };
  };
  const create = (strictSchema: boolean): Compile => {
    const options = { strictSchema, strictTypes: false, strictTuples: false, validateFormats: false, logger: false };
    const ajv = new Ajv2020({ ...options, keywords: ["file_uploadable"] });
    return (schema) => {
      try {
        ajv.compile(schema);
      } finally {
        ajv.removeSchema(schema);
      }
    };
  };
  return { plain: create(false), strict: create(true) };
}

/** A note or a refusal without what is of this one document. */
function toKind(text: string): string {
  const words = text.replace(/^.*?(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TRACE|QUERY) \S+(?::| is)/, "OPERATION");
  return words
    .replaceAll(/"[^"]*"/g, '"…"')
    .replaceAll(/https?:\S+|\/\S+|#\S+|\d+/g, "…")
    .slice(0, 110);
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

const folder = resolve(values.packages ?? ".");
const { plain, strict } = createCompilers(folder);
const place = join(resolve(values.src), "apps/openapi/prepare-openapi.ts");
const api = (await import(pathToFileURL(place).href)) as { prepareOpenApi: typeof prepareOpenApi };
const total = { documents: 0, added: 0, operations: 0, tools: 0, silent: 0, invalid: 0, notStrict: 0, badNames: 0 };
const refused = new Map<string, number>();
const notesByKind = new Map<string, number>();
const problems = new Map<string, number>();

const found = values.list === undefined ? listFiles(folder) : readFileSync(values.list, "utf8").trim().split("\n");
const files = found.filter((_, index) => index % Number(values.every) === 0);
for (const path of files) {
  const document = readIfDocument(path);
  if (document === undefined) continue;
  total.documents += 1;
  const wanted = { slug: "app", document: path, name: undefined, isPrivate: false, takesToken: false };
  try {
    const { source, notes } = await api.prepareOpenApi({ ...wanted, baseUrl: undefined }).catch((error: Error) => {
      if (!/where the API is|is not encrypted|not a public host/.test(error.message)) throw error;
      return api.prepareOpenApi({ ...wanted, baseUrl: "https://api.example.org" });
    });
    countApp(path, listOperations(document), { ...source.content, notes });
  } catch (error) {
    add(refused, `${error instanceof Error ? error.name : "?"}: ${toKind(String((error as Error).message))}`);
    console.error(`refused ${path.slice(folder.length)}: ${String((error as Error).message).slice(0, 300)}`);
  }
}

interface App {
  readonly actions: readonly { id: string; inputSchema: Json; call?: unknown }[];
  readonly notes: readonly string[];
}

function countApp(path: string, operations: readonly string[], { actions, notes }: App): void {
  total.added += 1;
  total.operations += operations.length;
  total.tools += actions.length;
  const sent = new Set(actions.map(({ call }) => (isObject(call) ? `${call.method} ${call.path}` : "")));
  const lost = operations.filter((name) => !sent.has(name) && !notes.some((note) => note.includes(name)));
  total.silent += lost.length;
  if (lost.length > 0) console.error(`lost without a note in ${path.slice(folder.length)}: ${lost.slice(0, 3)}`);
  for (const note of notes.filter((one) => /left out|cannot be|not supported|needs a secret|without/.test(one)))
    add(notesByKind, toKind(note));
  const names = actions.map(({ id }) => `app_${id}`);
  total.badNames += names.length - new Set(names.filter((name) => /^[A-Za-z0-9_-]{1,64}$/.test(name))).size;
  for (const { id, inputSchema } of actions) {
    const problem = findProblem(strict, inputSchema);
    if (problem === undefined) continue;
    const worse = findProblem(plain, inputSchema);
    total[worse === undefined ? "notStrict" : "invalid"] += 1;
    add(problems, `${worse === undefined ? "not strict" : "invalid"}: ${toKind(worse ?? problem)}`);
    if (worse !== undefined) console.error(`invalid schema in ${path.slice(folder.length)} ${id}: ${worse}`);
  }
}

function findProblem(compile: Compile, schema: unknown): string | undefined {
  try {
    compile(schema);
    return undefined;
  } catch (error) {
    return String((error as Error).message);
  }
}

const sorted = (counts: Map<string, number>) => Object.fromEntries([...counts].sort((a, b) => b[1] - a[1]));
console.log(
  JSON.stringify(
    { ...total, refused: sorted(refused), notes: sorted(notesByKind), problems: sorted(problems) },
    null,
    1,
  ),
);
