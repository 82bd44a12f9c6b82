import type { ServiceLog } from "../service-log.ts";

/** What can be wrong with a service, by itself and for all callers. */
export const PROBLEM_CODES = [
  "database_unavailable",
  "disk_full",
  "disk_read_only",
  "disk_gone",
  "secrets_key_lost",
  "clock_wrong",
] as const;

/** One of {@link PROBLEM_CODES}. */
type ProblemCode = (typeof PROBLEM_CODES)[number];

/** Something the operator has to look at. Strangers may read it: it names no path, no account and no secret. */
export interface Problem {
  readonly code: ProblemCode;
  /** One sentence. */
  readonly message: string;
}

/** What is wrong with this process now. */
export interface Health {
  /** Everything that is wrong, in the order in which it was found. */
  list(): Problem[];
  /**
   * Says that a problem is there, or that it is over. The log gets one line for each change.
   *
   * @param found.advice for the log only: what the operator can do, with paths and names.
   */
  report(
    code: ProblemCode,
    found: { readonly message: string; readonly advice?: string } | undefined | "" | false,
  ): void;
}

/** Starts without problems. */
export function createHealth(log: ServiceLog): Health {
  const problems = new Map<ProblemCode, Problem>();
  return {
    list: () => [...problems.values()],
    report(code, found) {
      const known = problems.get(code);
      if (!found) {
        if (known === undefined) return;
        problems.delete(code);
        log({ level: "info", message: `This is over: ${known.message}` });
        return;
      }
      problems.set(code, { code, message: found.message });
      if (known !== undefined) return;
      log({ level: "error", message: [found.message, found.advice].filter(Boolean).join(" ") });
    },
  };
}
