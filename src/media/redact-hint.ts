import { endOfCommand, findCommands, MAX_HINT_CHARACTERS } from "./find-commands.ts";

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

/**
 * Takes upload commands and tokens out of a hint, so that a model, a log or a screen can have the rest. What comes after
 * {@link MAX_HINT_CHARACTERS} is left out.
 */
export function redactHint(long: string): string {
  const hint = long.slice(0, MAX_HINT_CHARACTERS);
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
  const program = /(?<![\w./-])(?:[\w./]*\/)?(?:curl|wget|Invoke-WebRequest|iwr)(?:\.exe)?[ \t]+/gi;
  const found: { start: number; end: number }[] = [];
  let judged = 0;
  for (const { index: start, 0: word } of hint.matchAll(program)) {
    if (start < judged) continue;
    const line = hint.slice(start + word.length).split("\n", 1)[0] ?? "";
    const isCommand = /-\w|https?:/i.test(line);
    judged = isCommand ? endOfCommand(hint, start) : start + word.length + line.length;
    if (isCommand) found.push({ start, end: judged });
  }
  return found;
}
