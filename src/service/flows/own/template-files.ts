import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { parseJson } from "../../../shared/base/json.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { ServiceLog } from "../../service-error.ts";
import type { FlowTemplate } from "../flow-template.ts";
import { checkDefinition } from "./check-definition.ts";
import type { DefinitionProblem } from "./check-references.ts";
import { compileTemplate } from "./compile-template.ts";

/** A mistake in a file. */
export interface FileProblem extends DefinitionProblem {
  /** Its name in the folder. */
  readonly file: string;
}

/** The templates of a folder. */
export interface TemplateFiles {
  /** Those without mistakes, as the files are now. */
  list(): readonly FlowTemplate[];
  /** Mistakes in the others. */
  problems(): readonly FileProblem[];
}

/** Limits: longest file in bytes, and most files. */
const MAX_BYTES = 64 * 1024;
const MAX_FILES = 100;
const NO_FOLDER = "must be a folder that the service may read";
const NAME = /^[a-z0-9][a-z0-9_-]{0,59}\.json$/;

interface FoundFile {
  readonly name: string;
  readonly size: number;
  /** Another when the file has changed. */
  readonly mark: string;
}

/**
 * Opens the templates of a folder, which need not be there. A look at them reads the files that changed since the last one;
 * new mistakes are logged.
 *
 * @param taken keys that the files may not have
 */
export function openTemplateFiles(o: {
  folder: string;
  catalog: Pick<Catalog, "entries" | "find">;
  taken: readonly string[];
  log: ServiceLog;
}): TemplateFiles {
  let seen: { readonly mark: string; readonly entries: unknown } | undefined;
  let templates: readonly FlowTemplate[] = [];
  let problems: readonly FileProblem[] = [];

  function look(): void {
    const names = listNames(o.folder);
    const files = findFiles(o.folder, names ?? []);
    const mark = JSON.stringify([names === undefined, files]);
    // A template fits the tools that there are.
    if (seen?.mark === mark && seen.entries === o.catalog.entries) return;
    seen = { mark, entries: o.catalog.entries };
    const read = files.slice(0, MAX_FILES).map((file) => readTemplate(file, o));
    templates = read.flatMap((one) => ("template" in one ? [one.template] : []));
    const before = new Set(problems.map(describeFileProblem));
    problems = [
      ...(names === undefined ? [{ file: basename(o.folder), field: "", problem: NO_FOLDER }] : []),
      ...read.flatMap((one) => ("problems" in one ? one.problems : [])),
      ...files
        .slice(MAX_FILES)
        .map(({ name }) => ({ file: name, field: "", problem: `is one too many: ${MAX_FILES} files are read` })),
    ];
    for (const problem of problems.map(describeFileProblem)) {
      if (!before.has(problem)) o.log({ level: "warn", message: `A flow template cannot be used. ${problem}` });
    }
  }

  return {
    list() {
      look();
      return templates;
    },
    problems() {
      look();
      return problems;
    },
  };
}

/** File, field and mistake in one sentence. */
export function describeFileProblem({ file, field, problem }: FileProblem): string {
  return `${file}: ${field === "" ? "the file" : field} ${problem}.`;
}

/** Undefined for a folder that is there and cannot be read. */
function listNames(folder: string): string[] | undefined {
  try {
    return readdirSync(folder);
  } catch (error) {
    return isNodeError(error) && error.code === "ENOENT" ? [] : undefined;
  }
}

function isNodeError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "code" in error;
}

function findFiles(folder: string, names: readonly string[]): FoundFile[] {
  return names
    .filter((name) => name.endsWith(".json"))
    .sort()
    .flatMap((name) => {
      const found = statSync(join(folder, name), { throwIfNoEntry: false });
      return found?.isFile() ? [{ name, size: found.size, mark: `${found.mtimeMs} ${found.ino}` }] : [];
    });
}

function readTemplate(
  { name, size }: FoundFile,
  { folder, catalog, taken }: { folder: string; catalog: Pick<Catalog, "find">; taken: readonly string[] },
): { template: FlowTemplate } | { problems: FileProblem[] } {
  const refuse = (problem: string) => ({ problems: [{ file: name, field: "", problem }] });
  const key = name.replace(/\.json$/, "");
  if (!NAME.test(name)) return refuse("must be named with lower-case letters, digits, _ and -, such as keep-mail.json");
  if (taken.includes(key)) return refuse(`has the name of a template of the service; choose another than ${key}`);
  if (size > MAX_BYTES) return refuse(`has ${size} bytes; ${MAX_BYTES} are allowed`);
  let text: string;
  try {
    text = readFileSync(join(folder, name), "utf8");
  } catch {
    return refuse("cannot be read; check its rights");
  }
  const content = parseJson(text);
  if (content === undefined) return refuse("is no JSON; check its quotes and commas");
  const checked = checkDefinition(key, content, catalog);
  if ("problems" in checked) return { problems: checked.problems.map((problem) => ({ file: name, ...problem })) };
  return { template: compileTemplate(checked.template) };
}
