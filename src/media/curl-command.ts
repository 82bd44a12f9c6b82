/** What a curl command line asks for, before anything of it is judged. */
export interface CurlRequest {
  readonly urls: string[];
  methods: string[];
  /** `Name: value` lines. */
  readonly headers: string[];
  /** Text parts of a form. */
  readonly fields: [name: string, value: string][];
  /** Where bytes are taken from, and how they travel. */
  readonly files: { readonly path: string; readonly part?: string; readonly impliesPut: boolean }[];
}

type Setter = (request: CurlRequest, value: string) => string | undefined;

const ignore: Setter = () => undefined;

const VALUE_OPTIONS: Readonly<Record<string, Setter>> = {
  "--request": (request, value) => void request.methods.push(value),
  "--header": (request, value) => void request.headers.push(value),
  "--url": (request, value) => void request.urls.push(value),
  "--form": readForm,
  "--form-string": (request, value) => addField(request, value),
  "--data-binary": (request, value) => {
    if (!value.startsWith("@")) return "--data-binary must name the file with @";
    return addFile(request, value.slice(1), undefined, false);
  },
  "--upload-file": (request, value) => addFile(request, value, undefined, true),
  "--max-time": ignore,
  "--connect-timeout": ignore,
  "--retry": ignore,
  "--retry-delay": ignore,
  "--retry-max-time": ignore,
};

const FLAGS = new Set([
  "--silent",
  "--show-error",
  "--fail",
  "--fail-with-body",
  "--include",
  "--verbose",
  "--compressed",
]);
const SHORT_FLAGS = new Set(["s", "S", "f", "i", "v"]);
const SHORT_VALUES: Readonly<Record<string, string>> = {
  X: "--request",
  H: "--header",
  F: "--form",
  T: "--upload-file",
  m: "--max-time",
};

/** Reads the words after `curl` by an allow-list of options; a string says what stands in the way. */
export function readCurlArguments(words: readonly string[]): CurlRequest | string {
  const request: CurlRequest = { urls: [], methods: [], headers: [], fields: [], files: [] };
  const queue = [...words];
  for (let word = queue.shift(); word !== undefined; word = queue.shift()) {
    const problem = readWord(request, word, queue);
    if (problem !== undefined) return problem;
  }
  return request;
}

function readWord(request: CurlRequest, word: string, queue: string[]): string | undefined {
  if (!word.startsWith("-")) return void request.urls.push(word);
  if (word.startsWith("--")) {
    return FLAGS.has(word) ? undefined : readOption(request, word, queue.shift());
  }
  for (let at = 1; at < word.length; at += 1) {
    const letter = word.charAt(at);
    if (SHORT_FLAGS.has(letter)) continue;
    const option = Object.hasOwn(SHORT_VALUES, letter) ? SHORT_VALUES[letter] : undefined;
    if (option === undefined) return `-${letter} is not allowed`;
    return readOption(request, option, word.slice(at + 1) || queue.shift());
  }
  return word === "-" ? "- is not allowed" : undefined;
}

function readOption(request: CurlRequest, option: string, value: string | undefined): string | undefined {
  const set = Object.hasOwn(VALUE_OPTIONS, option) ? VALUE_OPTIONS[option] : undefined;
  if (set === undefined) return `${option} is not allowed`;
  return value === undefined ? `${option} has no value` : set(request, value);
}

/** `name=value`, or `name=@path` with `;type=` and `;filename=` after it; the path may stand in double quotes. */
function readForm(request: CurlRequest, form: string): string | undefined {
  const [, name, value] = /^([^=]*)=(.*)$/s.exec(form) ?? [];
  if (name === undefined || value === undefined) return "--form has no name";
  if (value.startsWith("<")) return "--form must not take text from a file";
  if (!value.startsWith("@")) return value.includes(";") ? "--form text holds ;" : addField(request, form);
  const [, quoted, plain, tail] = /^@(?:"((?:[^"\\]|\\["\\])*)"|([^";,]*))((?:;.*)?)$/s.exec(value) ?? [];
  if (tail === undefined || !/^(?:;(?:type|filename)=(?:"[^"]*"|[^";,]*))*$/.test(tail)) {
    return "--form names more than one plain file";
  }
  return addFile(request, quoted?.replace(/\\(.)/g, "$1") ?? plain ?? "", name, false);
}

function addField(request: CurlRequest, form: string): string | undefined {
  const [, name, value] = /^([^=]*)=(.*)$/s.exec(form) ?? [];
  if (name === undefined || value === undefined) return "a form field has no name";
  request.fields.push([name, value]);
  return undefined;
}

function addFile(
  request: CurlRequest,
  path: string,
  part: string | undefined,
  impliesPut: boolean,
): string | undefined {
  if (path === "" || path === "-" || path === ".") return "the file is standard input";
  request.files.push({ path, impliesPut, ...(part !== undefined && { part }) });
  return undefined;
}
