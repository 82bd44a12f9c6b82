import { readdirSync, readFileSync } from "node:fs";

const SOURCES = new URL("../../src/", import.meta.url);

/** A code with the HTTP statuses it is answered with. */
export type StatusesByCode = ReadonlyMap<string, ReadonlySet<number>>;

/** Files that make an error from a code which is not written beside `new ServiceError`, and how it stands there. */
const ELSEWHERE: Readonly<Record<string, RegExp>> = {
  "service/fetch/url-refusal.ts": /^ {2}\| (?<code>"\w+")/gm,
  "service/http/routes/catalog.ts": /missing\((?<name>"\w+")/g,
  "apps/mail/mail-settings.ts": /(?<code>"rate_limit\w*")/g,
  "service/auth/registration/pairing.ts": /refuse\((?<status>\d+)/g,
  // Take both from their callers.
  "apps/port/provider-failure.ts": /(?!)/g,
  "service/service-error.ts": /(?!)/g,
};

/** Files that pass on what was made elsewhere: the same error in other words or without secrets, one from the store, those of OAuth. */
const PASSED_ON = [
  "service/executions/summarise-outcome.ts",
  "service/executions/outcome.ts",
  "service/oauth/create-provider.ts",
  "apps/port/hide-secrets.ts",
];

/** Every code of a `ServiceError`, as the sources make them. */
export function findServiceCodes(): StatusesByCode {
  const found = new Map<string, Set<number>>();
  const add = (code: string, status: number) => found.set(code, (found.get(code) ?? new Set()).add(status));
  const constants = findConstants();
  for (const [path, text] of readServiceSources()) {
    if (PASSED_ON.includes(path)) continue;
    for (const [status = "", code = ""] of findNewErrors(text)) {
      const known = /^"\w+"$/.test(code) ? unquote(code) : constants.get(code);
      if (known !== undefined && /^\d+$/.test(status)) add(known, Number(status));
      else if (ELSEWHERE[path] === undefined)
        throw new Error(`${path} makes a ServiceError with ${status} and ${code}`);
    }
    for (const { groups = {} } of text.matchAll(ELSEWHERE[path] ?? /(?!)/g)) {
      const { code = groups.name === undefined ? '"pairing_refused"' : `"${unquote(groups.name)}_missing"`, status } =
        groups;
      add(unquote(code), status === undefined ? guessStatus(unquote(code)) : Number(status));
    }
  }
  return found;
}

/** Of the codes made elsewhere without a status beside them. */
function guessStatus(code: string): number {
  if (code.startsWith("rate_limit")) return 429;
  return code === "media_url_unavailable" ? 503 : 400;
}

/** Every code that the plugin itself gives an outcome, but for those of refused files and of thrown errors. */
export function findOutcomeCodes(): Set<string> {
  const found = new Set<string>();
  for (const room of ["plugin/calls/", "plugin/schema/", "shared/schema-check/", "plugin/runtimes/"]) {
    for (const [, text] of readSources(room)) {
      for (const [, code = ""] of text.matchAll(/\bcode:\s*"([a-z_]+)"/g)) found.add(code);
      for (const [, code = ""] of text.matchAll(/\bunanswered\("([a-z_]+)"/g)) found.add(code);
      for (const [, code = ""] of text.matchAll(/^export const [A-Z_]*FAILURE = "([a-z_]+)";/gm)) found.add(code);
      for (const [, code = ""] of text.matchAll(/\breturn "(flow_[a-z_]+)"/g)) found.add(code);
    }
  }
  const [, reasons = ""] = /type RefusalReason = ([^;]+);/.exec(readSource("plugin/calls/ask/request.ts")) ?? [];
  for (const [, reason = ""] of reasons.matchAll(/"(\w+)"/g)) found.add(`approval_${reason}`);
  for (const [, code = ""] of readSource("plugin/calls/flows/read-flow.ts").matchAll(/\? "(flow_\w+)"/g))
    found.add(code);
  return found;
}

/** The names the plugin gives to answers without a code, by status. */
export function findCodesByStatus(): Map<string, string> {
  const [, table = ""] =
    /CODE_BY_STATUS[^{]*\{([^}]*)\}/.exec(readSource("plugin/calls/steps/answer/read-reply.ts")) ?? [];
  return new Map([...table.matchAll(/(\d+): "(\w+)"/g)].map(([, status = "", code = ""]) => [code, status]));
}

/** The codes of refused files. */
export function findMediaCodes(): string[] {
  const [, table = ""] = /const REFUSALS = \{(.*?)^\}/ms.exec(readSource("plugin/media/media-refusal.ts")) ?? [];
  return [...table.matchAll(/^ {2}(\w+): \[/gm)].map(([, code = ""]) => code);
}

function readSource(path: string): string {
  return readFileSync(new URL(path, SOURCES), "utf8");
}

function readSources(folder: string): [path: string, text: string][] {
  const names = readdirSync(new URL(folder, SOURCES), { recursive: true, encoding: "utf8" });
  const paths = names.filter((name) => name.endsWith(".ts")).map((name) => `${folder}${name}`);
  return paths.map((path) => [path, readSource(path)]);
}

/** The service and its apps: they answer with the same errors. */
function readServiceSources(): [path: string, text: string][] {
  return ["service/", "apps/"].flatMap(readSources);
}

/** `const NAME = "code"` of the service. */
function findConstants(): Map<string, string> {
  const found = new Map<string, string>();
  for (const [, text] of readServiceSources()) {
    for (const [, name = "", code = ""] of text.matchAll(/^(?:export )?const ([A-Z_]+) = "(\w+)";/gm)) {
      found.set(name, code);
    }
  }
  return found;
}

/** The first two arguments of every `new ServiceError(…)` and `refuseBare(…)`. */
function findNewErrors(text: string): string[][] {
  const calls = text.matchAll(/(?:new ServiceError|(?<!function )refuseBare)\(\s*([^,]+?),\s*([^,)]+?)\s*[,)]/g);
  return [...calls].map(([, status = "", code = ""]) => [status, code]);
}

function unquote(text: string): string {
  return text.replaceAll('"', "");
}
