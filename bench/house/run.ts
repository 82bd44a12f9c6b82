import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { parseArgs, promisify } from "node:util";
import {
  countImports,
  DOORS,
  findCycles,
  findMutualPairs,
  findPrivateParts,
  findServiceSide,
  measureFunctions,
  readSources,
  SHORT_LINES,
  type Source,
} from "./read-sources.ts";
import type { Entered } from "./sample.ts";

/*
 * The structure of `src` in numbers: `npm run bench:house`, or with `-- --tree DIR` that of another checkout with its
 * packages installed; several of them stand side by side. `--json` also names the files behind each number;
 * `--skip-calls` leaves out what has to run the checkout.
 */

/** One line of the table. */
interface Row {
  readonly name: string;
  readonly value: string;
  /** The things counted, where there are few of them. */
  readonly items?: unknown;
}

const LONG_LINES = 250;
const WINGS = ["shared", "plugin", "service", "apps", "cli"];

const { values: flags } = parseArgs({
  options: {
    tree: { type: "string", multiple: true, default: [join(import.meta.dirname, "../..")] },
    json: { type: "boolean", default: false },
    "skip-calls": { type: "boolean", default: false },
  },
});
const trees = flags.tree.map((tree) => resolve(tree));
const columns: Row[][] = [];
for (const tree of trees) columns.push(await measureTree(tree));
console.log(
  flags.json ? JSON.stringify(Object.fromEntries(columns.map((rows, index) => [trees[index], rows]))) : print(),
);

async function measureTree(tree: string): Promise<Row[]> {
  const sources = readSources(tree);
  return [
    ...measureSize(sources),
    ...measureImports(sources),
    ...(flags["skip-calls"] ? [] : await runCalls(tree, sources)),
  ];
}

function measureSize(sources: readonly Source[]): Row[] {
  const lines = sources.reduce((sum, source) => sum + source.lines, 0);
  const short = sources.filter((source) => source.lines <= SHORT_LINES);
  const crumbs = short.filter(({ path }) => !DOORS.includes(path));
  const long = sources.filter((source) => source.lines > LONG_LINES);
  const functions = measureFunctions(sources).sort((a, b) => a - b);
  const at = (share: number) => functions[Math.floor((functions.length - 1) * share)] ?? 0;
  const { statements, lines: importLines } = countImports(sources);
  const percent = (part: number) => `${((100 * part) / lines).toFixed(2)} %`;
  return [
    { name: "files of src", value: show(sources.length) },
    { name: "lines of src", value: show(lines) },
    ...measureWings(sources),
    { name: `files of at most ${SHORT_LINES} lines`, value: show(short.length) },
    { name: "  without the doors", value: show(crumbs.length), items: crumbs.map(({ path }) => path) },
    { name: `files of more than ${LONG_LINES} lines`, value: show(long.length), items: long.map(({ path }) => path) },
    { name: "lines of a function: median, 90 %, longest", value: `${at(0.5)}, ${at(0.9)}, ${at(1)}` },
    { name: "import statements", value: `${show(statements)}, ${percent(statements)} of the lines` },
    { name: "  lines they take", value: `${show(importLines)}, ${percent(importLines)}` },
  ];
}

function measureWings(sources: readonly Source[]): Row[] {
  return WINGS.map((wing) => {
    const inside = sources.filter(({ path }) => path.startsWith(`src/${wing}/`));
    return { name: `  of ${wing}`, value: show(inside.reduce((sum, source) => sum + source.lines, 0)) };
  });
}

function measureImports(sources: readonly Source[]): Row[] {
  const pairs = findMutualPairs(sources);
  const cycles = findCycles(sources);
  const withTypes = findCycles(sources, ["value", "type"]);
  const parts = findPrivateParts(sources);
  return [
    { name: "pairs of rooms that import each other", value: show(pairs.length), items: pairs },
    { name: "import cycles, values only", value: show(cycles.length), items: cycles },
    { name: "import cycles with types", value: show(withTypes.length), items: withTypes },
    { name: "kinds of private parts of dependencies", value: show(Object.keys(parts).length), items: parts },
  ];
}

async function runCalls(tree: string, sources: readonly Source[]): Promise<Row[]> {
  const service = findServiceSide(sources);
  const rows: Row[] = [];
  for (const kind of ["read", "write"]) {
    const script = join(import.meta.dirname, "sample.ts");
    const { stdout } = await promisify(execFile)(process.execPath, [script, tree, kind]);
    const entered: Entered[] = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
    const call = kind === "read" ? "a read" : "an approved write with a file";
    rows.push(
      describeSide(
        `${call}, plugin: files, functions, calls`,
        entered.filter(({ file }) => !service.has(file)),
      ),
      describeSide(
        `${call}, service: files, functions, calls`,
        entered.filter(({ file }) => service.has(file)),
      ),
    );
  }
  return rows;
}

function describeSide(name: string, entered: readonly Entered[]): Row {
  const sum = (key: "functions" | "calls") => entered.reduce((total, file) => total + file[key], 0);
  const value = [entered.length, sum("functions"), sum("calls")].map(show).join(", ");
  return { name, value, items: entered };
}

function show(count: number): string {
  return count.toLocaleString("en");
}

function print(): string {
  const table = [
    ["", ...trees],
    ...(columns[0] ?? []).map(({ name }, row) => [name, ...columns.map((rows) => rows[row]?.value ?? "")]),
  ];
  const widths = table[0]?.map((_cell, index) => Math.max(...table.map((cells) => cells[index]?.length ?? 0))) ?? [];
  return table
    .map((cells) =>
      cells
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
