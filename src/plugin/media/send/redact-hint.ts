/** Hints longer than this are refused, and cut before a person or model sees them. Characters. */
export const MAX_HINT_CHARACTERS = 16 * 1024;

const COMMAND = "[upload command]";
const MASK = "[hidden]";

const SECRETS: readonly (readonly [RegExp, string])[] = [
  // A quoted value keeps its quotes, whatever stands between them.
  [
    /\b([\w-]*(?:token|secret|key|passw|auth|sig|signature|bearer|jwt|credential)[\w-]*["'`]?\s*[=:]\s*)(["'`])(?:(?!\2).)*\2?/gis,
    `$1$2${MASK}$2`,
  ],
  [/\beyJ[\w-]{8,}(?:\.[\w-]+)*/g, MASK],
  [/\b(Bearer|Token)\s+[^\s"'`\\]+/gi, `$1 ${MASK}`],
  [/\b(x-(?:svc-upload|upload|ingest)-token\s*:\s*)[^\s"'`\\]+/gi, `$1${MASK}`],
  [/((?:^|[?&\s"'`])(?:token|sig|signature|key)=)[^&\s"'`\\]+/gim, `$1${MASK}`],
];

/** Beside a command: variables a shell would put into it, and long words with letters and digits. */
const BESIDE_COMMANDS: readonly (readonly [RegExp, string])[] = [
  [/((?:^|[\s;&|(])(?:\$env:)?[A-Za-z_]\w*\s?=\s?)("[^"]*"?|'[^']*'?|[^\s;&|]+)/g, `$1${MASK}`],
  [/(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{16,}/g, MASK],
];

/** A line with the lines a `\` joins to it. */
const WHOLE_LINE = /(?:\\\r?\n|[^\n])+/g;
const PROGRAM = /(?<![\w./-])(?:[\w./]*\/)?(?:curl|wget|Invoke-WebRequest|iwr)(?:\.exe)?[ \t]/i;

/**
 * Takes upload commands and tokens out of a hint, before `redact` takes out other secrets. Cut at
 * {@link MAX_HINT_CHARACTERS}.
 */
export function redactHint(long: string): string {
  let hasCommand = false;
  const text = long.slice(0, MAX_HINT_CHARACTERS).replace(WHOLE_LINE, (line) => {
    const { index } = PROGRAM.exec(line) ?? {};
    if (index === undefined || !/-\w|https?:/i.test(line.slice(index))) return line;
    hasCommand = true;
    return line.slice(0, index) + COMMAND;
  });
  const patterns = hasCommand ? [...BESIDE_COMMANDS, ...SECRETS] : SECRETS;
  return patterns.reduce((out, [pattern, mask]) => out.replace(pattern, mask), text);
}
