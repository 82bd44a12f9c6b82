import type { OutcomeStatus, ToolOutcome } from "../plugin/calls/outcome.ts";
import { isSvcError, type SvcError, type SvcErrorCode } from "../shared/errors.ts";

/** Exit codes of every command; printed by `svc help`. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  notPaired: 3,
  notApproved: 4,
  unknownOutcome: 5,
  interrupted: 130,
} as const;

/** One line per exit code, for help. */
export const EXIT_CODE_HELP = `
Exit codes:
  0    done
  1    failed; the message says what to do next
  2    the command line is wrong
  3    no access (any more): run "svc pair"
  4    a human declined, or nobody could be asked about a call
  5    a write was sent and its outcome is not known: check before you repeat it
  130  interrupted`;

const BY_CODE: Partial<Record<SvcErrorCode, number>> = {
  credentials_missing: EXIT.notPaired,
  unauthorized: EXIT.notPaired,
  aborted: EXIT.interrupted,
};

/** The exit code for a thrown error. */
export function exitCodeFor(error: unknown): number {
  if (!isSvcError(error)) return EXIT.failed;
  return isWrongFlag(error) ? EXIT.usage : (BY_CODE[error.code] ?? EXIT.failed);
}

const BY_STATUS: Readonly<Record<OutcomeStatus, number>> = {
  succeeded: EXIT.ok,
  failed: EXIT.failed,
  needs_connection: EXIT.failed,
  needs_approval: EXIT.notApproved,
  declined: EXIT.notApproved,
  unknown: EXIT.unknownOutcome,
};

/** The exit code of an outcome; a refused key has the same code as the thrown error. */
export function exitCodeForOutcome({ status, code }: Pick<ToolOutcome, "status" | "code">): number {
  const isAccess = code === "unauthorized" || code === "credentials_missing";
  return status === "failed" && isAccess ? EXIT.notPaired : BY_STATUS[status];
}

/** True for an invalid flag value. A missing `--yes` is an unanswered question instead. */
function isWrongFlag({ code, field }: SvcError): boolean {
  return code === "invalid_config" && field?.startsWith("--") === true && field !== "--yes";
}
