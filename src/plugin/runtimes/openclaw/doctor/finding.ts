/** One thing that was looked at. */
export interface Finding {
  /** Stable name, e.g. `key` or `tools.profile`. */
  readonly id: string;
  /** `fail`: the tools do not work before this is fixed; `warn`: some do not, or soon will not. */
  readonly level: "ok" | "warn" | "fail";
  /** One sentence: the state found. Holds no secret. */
  readonly text: string;
  /** One sentence: what to do, usually a command. */
  readonly fix?: string;
}

/** All is well. */
export function ok(id: string, text: string): Finding {
  return { id, level: "ok", text };
}

/** Some tools do not work, or soon will not. */
export function warn(id: string, text: string, fix: string): Finding {
  return { id, level: "warn", text, fix };
}

/** The tools do not work before this is fixed. */
export function fail(id: string, text: string, fix: string | undefined): Finding {
  return { id, level: "fail", text, ...(fix === undefined ? {} : { fix }) };
}

const MARKS = { ok: "ok  ", warn: "warn", fail: "FAIL" } as const;

/** The findings as lines, each with its fix below it. */
export function formatFindings(findings: readonly Finding[]): string {
  const lines = findings.flatMap(({ level, text, fix }) => [
    `${MARKS[level]}  ${text}`,
    ...(fix === undefined ? [] : [`      Fix: ${fix}`]),
  ]);
  return lines.join("\n");
}

/** False when something fails. */
export function isHealthy(findings: readonly Finding[]): boolean {
  return findings.every(({ level }) => level !== "fail");
}
