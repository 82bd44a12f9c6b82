import { MAX_HINT_CHARACTERS } from "./upload-hint.ts";

const COMMAND = "[upload command]";
const MASK = "[hidden]";

const SECRETS: readonly (readonly [RegExp, string])[] = [
  // A quoted value keeps its quotes, whatever stands between them.
  [
    /\b([\w-]*(?:token|secret|key|passw|auth|sig|signature|bearer|jwt|credential)[\w-]*["'`]?\s*[=:]\s*)(["'`])(?:(?!\2).)*\2?/gis,
    `$1$2${MASK}$2`,
  ],
  [/\beyJ[\w-]{8,}(?:\.[\w-]+)*/g, MASK],
  [/\bsvc_live_[\w-]+/g, MASK],
  [/\b(Bearer|Token)\s+[^\s"'`\\]+/gi, `$1 ${MASK}`],
  [/\b(x-(?:svc-upload|upload|ingest)-token\s*:\s*)[^\s"'`\\]+/gi, `$1${MASK}`],
  [/((?:^|[?&\s"'`])(?:token|sig|signature|key)=)[^&\s"'`\\]+/gim, `$1${MASK}`],
  [/("(?:apiKey|verifier|sessionToken|token)"\s*:\s*")[^"]*/g, `$1${MASK}`],
  [/\bv1\.[\w-]{8,}\.[\w-]{8,}/g, MASK],
];

/** Beside a command: variables a shell would put into it, and long words with letters and digits. */
const BESIDE_COMMANDS: readonly (readonly [RegExp, string])[] = [
  [/((?:^|[\s;&|(])(?:\$env:)?[A-Za-z_]\w*\s?=\s?)("[^"]*"?|'[^']*'?|[^\s;&|]+)/g, `$1${MASK}`],
  [/(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{16,}/g, MASK],
];

/** A line with the lines a `\` joins to it. */
const LINE = /(?:\\\r?\n|[^\n])+/g;
const PROGRAM = /(?<![\w./-])(?:[\w./]*\/)?(?:curl|wget|Invoke-WebRequest|iwr)(?:\.exe)?[ \t]/i;

/**
 * Takes upload commands and tokens out of a hint, so that a model, a log or a screen can have the rest. Cut at
 * {@link MAX_HINT_CHARACTERS}.
 */
export function redactHint(long: string): string {
  let hasCommand = false;
  const text = long.slice(0, MAX_HINT_CHARACTERS).replace(LINE, (line) => {
    const { index } = PROGRAM.exec(line) ?? {};
    if (index === undefined || !/-\w|https?:/i.test(line.slice(index))) return line;
    hasCommand = true;
    return line.slice(0, index) + COMMAND;
  });
  const patterns = hasCommand ? [...BESIDE_COMMANDS, ...SECRETS] : SECRETS;
  return patterns.reduce((out, [pattern, mask]) => out.replace(pattern, mask), text);
}
