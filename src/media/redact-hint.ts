import { endOfCommand, findCommands } from "./find-commands.ts";

const COMMAND = "[upload command]";
const MASK = "[hidden]";

const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/\bsvc_live_[\w-]+/g, MASK],
  [/\b(Bearer|Token)\s+[^\s"'`\\]+/gi, `$1 ${MASK}`],
  [/\b(x-(?:svc-upload|upload|ingest)-token\s*:\s*)[^\s"'`\\]+/gi, `$1${MASK}`],
  [/((?:^|[?&\s"'`])(?:token|sig|signature|key)=)[^&\s"'`\\]+/gim, `$1${MASK}`],
  [/("(?:apiKey|verifier|sessionToken|token)"\s*:\s*")[^"]*/g, `$1${MASK}`],
  [/\bv1\.[\w-]{8,}\.[\w-]{8,}/g, MASK],
];

/** Takes upload commands and tokens out of a hint, so that a model, a log or a screen can have the rest. */
export function redactHint(hint: string): string {
  const spans = [...findCommands(hint), ...findLooseCommands(hint)].toSorted((a, b) => a.start - b.start);
  let text = "";
  let at = 0;
  for (const { start, end } of spans) {
    if (start >= at) text += hint.slice(at, start) + COMMAND;
    at = Math.max(at, end);
  }
  return SECRETS.reduce((out, [pattern, mask]) => out.replace(pattern, mask), text + hint.slice(at));
}

/** Commands that would never be followed but may hold a token all the same: other programs, or after other words. */
function findLooseCommands(hint: string): { start: number; end: number }[] {
  const program =
    /(?<![\w./-])(?:[\w./]*\/)?(?:curl|wget|Invoke-WebRequest|iwr)(?:\.exe)?[ \t]+(?=[^\n]*(?:-\w|https?:))/gi;
  return [...hint.matchAll(program)].map(({ index }) => ({ start: index, end: endOfCommand(hint, index) }));
}
