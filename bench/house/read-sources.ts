import { globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

/** One source file of a checkout. */
export interface Source {
  /** Relative to the checkout, with slashes: `src/shared/wire/catalog.ts`. */
  readonly path: string;
  readonly text: string;
  readonly lines: number;
  readonly imports: readonly Import[];
}

/** One import statement, re-export or `import()` of another source file of the checkout. */
export interface Import {
  readonly target: string;
  /** value: loaded when the file is. type: gone at run time. lazy: `import()`. */
  readonly kind: "value" | "type" | "lazy";
}

/** Files with at most this many lines are too short to stand alone, unless they are {@link DOORS}. */
export const SHORT_LINES = 15;

/** The entry points of the package, which hold re-exports only. */
export const DOORS = ["index", "langchain", "openclaw", "service", "testing"].map((name) => `src/${name}.ts`);

const IMPORT = /^import\s[^;]*;$/gm;
const SPECIFIER = /^(?:import|export)\s(?:[^;"]*?\sfrom\s)?"(\.[^"]*)";$|\bimport\(\s*"(\.[^"]*)"\s*\)/gm;
const TYPES_ONLY = /^(?:import|export)\s+(?:type\b|\{(?:\s*type\s[^,}]*,?)+\s*\})/;

/** Every `.ts` file below `src` of a checkout. */
export function readSources(tree: string): Source[] {
  return globSync("src/**/*.ts", { cwd: tree })
    .map((path) => path.replaceAll("\\", "/"))
    .sort()
    .map((path) => {
      const text = readFileSync(join(tree, path), "utf8");
      return { path, text, lines: text.split("\n").length - 1, imports: readImports(path, text) };
    });
}

function readImports(path: string, text: string): Import[] {
  return [...text.matchAll(SPECIFIER)].map(([statement, fixed, lazy]) => {
    const target = posix.join(posix.dirname(path), fixed ?? lazy ?? "");
    if (fixed === undefined) return { target, kind: "lazy" };
    return { target, kind: TYPES_ONLY.test(statement) ? "type" : "value" };
  });
}

/** Import statements at the start of files: how many, and the lines they take. */
export function countImports(sources: readonly Source[]): { statements: number; lines: number } {
  const statements = sources.flatMap(({ text }) => text.match(IMPORT) ?? []);
  return { statements: statements.length, lines: statements.join("\n").split("\n").length };
}

const FUNCTION =
  /^(?:(?:export |async |static |get |set |override )*(?:function\b|#?\w+(?:<.*>)?\()|(?:export )?const \w+(?:: .*)? = (?:async )?(?:\(|\w+ =>)|(?:readonly )?#?\w+ = (?:async )?\()/;
const STATEMENT = /^(?:if|for|while|switch|catch|return|super|await|throw|do|else)\b/;

/** Lines of each function, method and named arrow function that has a body in braces. */
export function measureFunctions(sources: readonly Source[]): number[] {
  return sources.flatMap(({ text }) => {
    const lines = text.split("\n");
    return lines.map((_line, start) => measureFunction(lines, start)).filter((length) => length !== undefined);
  });
}

/** Reads the formatter's layout: a body ends at the first line that is indented no deeper than its function. */
function measureFunction(lines: readonly string[], start: number): number | undefined {
  const first = lines[start] ?? "";
  const indent = first.search(/\S/);
  if (!FUNCTION.test(first.trimStart()) || STATEMENT.test(first.trimStart())) return undefined;
  const findEdge = (after: number) =>
    lines.findIndex((line, at) => at > after && line !== "" && line.search(/\S/) <= indent);
  const isOneLine = first.endsWith(" {");
  const open = isOneLine ? start : findEdge(start);
  const head = lines[open]?.trimStart() ?? "";
  if (!head.endsWith(" {") || !(isOneLine || head.startsWith(")"))) return undefined;
  return findEdge(open) - start + 1;
}

/** Pairs of rooms, the folders right below a wing, with imports in both directions, types included. */
export function findMutualPairs(sources: readonly Source[]): string[] {
  const roomOf = (path: string) => /^src\/((?:shared|plugin|service|apps)\/[^/]+)\//.exec(path)?.[1];
  const ways = new Set<string>();
  for (const { path, imports } of sources) {
    for (const { target } of imports) {
      const [from, to] = [roomOf(path), roomOf(target)];
      if (from !== undefined && to !== undefined && from !== to) ways.add(`${from} ${to}`);
    }
  }
  return [...ways].sort().flatMap((way) => {
    const [from = "", to = ""] = way.split(" ");
    return from < to && ways.has(`${to} ${from}`) ? [`${from}, ${to}`] : [];
  });
}

/** Groups of files that load each other in a circle; without types, which are gone at run time. */
export function findCycles(sources: readonly Source[], kinds: readonly Import["kind"][] = ["value"]): string[][] {
  const next = new Map(
    sources.map(({ path, imports }) => [
      path,
      imports.filter(({ kind }) => kinds.includes(kind)).map(({ target }) => target),
    ]),
  );
  const reached = new Map([...next.keys()].map((path) => [path, reach(path, next)]));
  const cycles: string[][] = [];
  const seen = new Set<string>();
  for (const [path, others] of reached) {
    if (seen.has(path) || !others.has(path)) continue;
    const cycle = [...others].filter((other) => reached.get(other)?.has(path));
    for (const other of cycle) seen.add(other);
    cycles.push(cycle.sort());
  }
  return cycles;
}

function reach(start: string, next: ReadonlyMap<string, readonly string[]>): Set<string> {
  const found = new Set<string>();
  const queue = [...(next.get(start) ?? [])];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (found.has(path)) continue;
    found.add(path);
    queue.push(...(next.get(path) ?? []));
  }
  return found;
}

/** The files of the service and its apps, and those that nothing but the service imports. */
export function findServiceSide(sources: readonly Source[]): ReadonlySet<string> {
  const side = new Set(sources.map(({ path }) => path).filter((path) => /^src\/(?:service|apps)\//.test(path)));
  const importers = new Map<string, string[]>();
  for (const { path, imports } of sources)
    for (const { target } of imports) importers.set(target, [...(importers.get(target) ?? []), path]);
  for (let before = -1; before !== side.size; ) {
    before = side.size;
    for (const { path } of sources) {
      const users = importers.get(path) ?? [];
      if (users.length > 0 && users.every((user) => side.has(user))) side.add(path);
    }
  }
  return side;
}

/**
 * Ways into a dependency that its documentation does not give, so that a minor release can break them. `_zod` and
 * `_meta` are not among them: zod documents the one for authors of libraries, the MCP specification has the other.
 */
const PRIVATE_PARTS: Readonly<Record<string, RegExp>> = {
  "validator: accessor under $recursiveRef": /defineProperty\(\w+, "\$recursiveRef"/,
  "validator: accessor under $recursiveAnchor": /defineProperty\(\w+, "\$recursiveAnchor"/,
  "underscored member (nodemailer: _onData)":
    /\w\._(?!(?:zod|meta)\b)[a-z]\w*|"_(?!(?:zod|meta)\b)[a-z]\w*" in |\["_[a-z]\w*"\]/,
  "private member or tables of the workflow engine":
    /\["db"\]|\b(?:workflow_runs|step_attempts|workflow_signals|workflow_status)\b/,
  "LangGraph: __pregel_ members, pending writes": /\b__pregel_\w+|\bpendingWrites\b|"__(?:interrupt|resume|error)__"/,
  "nodemailer: sign-in by cast": /as unknown as (?:Constructor)?Parameters<|"allowsAuth" in /,
};

/** Where the sources use private parts of dependencies, by kind: `file:line`. Kinds without a use are left out. */
export function findPrivateParts(sources: readonly Source[]): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const { path, text } of sources) {
    for (const [index, line] of text.split("\n").entries()) {
      if (/^\s*(?:\*|\/[/*])/.test(line)) continue;
      for (const [kind, pattern] of Object.entries(PRIVATE_PARTS))
        if (pattern.test(line)) found[kind] = [...(found[kind] ?? []), `${path}:${index + 1}`];
    }
  }
  return found;
}
