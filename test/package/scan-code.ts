/** One rule of the code scan that OpenClaw's `security audit --deep` runs over installed plugins (2026.9.6). */
interface Rule {
  readonly id: string;
  readonly pattern: RegExp;
  /** The rule counts only in a file that also holds this... */
  readonly beside?: RegExp;
  /** ...or, when set, holds it at most this many lines away. */
  readonly withinLines?: number;
}

const SENDS = /\bfetch\s*\(|\bpost\s*\(|\.\s*post\s*\(|http\.request\s*\(/i;
const RULES: readonly Rule[] = [
  { id: "dangerous-exec", pattern: /\b(exec|spawn|execFile)(Sync)?\s*\(/, beside: /child_process/ },
  { id: "dynamic-code-execution", pattern: /\beval\s*\(|new\s+Function\s*\(/ },
  { id: "potential-exfiltration", pattern: /readFileSync|readFile/, beside: SENDS },
  { id: "env-harvesting", pattern: /process\.env/, beside: SENDS, withinLines: 8 },
  { id: "obfuscated-code", pattern: /(\\x[0-9a-fA-F]{2}){6,}|(?:atob|Buffer\.from)\s*\(\s*["'][A-Za-z0-9+/=]{200,}/ },
];

/** Every finding of that scan in a source, with its line. */
export function scanCode(source: string): string[] {
  const lines = source.split("\n");
  return RULES.flatMap(({ id, pattern, beside, withinLines }) =>
    lines.flatMap((line, index) => {
      const near =
        withinLines === undefined ? lines : lines.slice(Math.max(0, index - withinLines), index + withinLines + 1);
      const counts = pattern.test(line) && (beside === undefined || beside.test(near.join("\n")));
      return counts ? [`${id} in line ${index + 1}: ${line.trim()}`] : [];
    }),
  );
}
