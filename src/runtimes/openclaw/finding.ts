/** One thing that was looked at. */
export interface Finding {
  /** Stable name, e.g. `key` or `tools.profile`. */
  readonly id: string;
  /** `fail`: the tools do not work before this is fixed; `warn`: some do not, or soon will not. */
  readonly level: "ok" | "warn" | "fail";
  /** One sentence: what is so. Holds no secret. */
  readonly text: string;
  /** One sentence: what to do, usually a command. */
  readonly fix?: string;
}

const MARKS = { ok: "ok  ", warn: "warn", fail: "FAIL" } as const;

/** The findings as lines, each with its fix below it. */
export function formatFindings(findings: readonly Finding[]): string {
  return findings
    .flatMap(({ level, text, fix }) => [
      `${MARKS[level]}  ${text}`,
      ...(fix === undefined ? [] : [`      Fix: ${fix}`]),
    ])
    .join("\n");
}

/** False when something fails. */
export function isHealthy(findings: readonly Finding[]): boolean {
  return findings.every(({ level }) => level !== "fail");
}
