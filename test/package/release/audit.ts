import { z } from "zod";
import type { RuntimePackage } from "./runtime-packages.ts";

/** What `npm audit --json` answers. */
const reportSchema = z.looseObject({
  vulnerabilities: z.record(
    z.string(),
    z.looseObject({
      severity: z.string(),
      via: z.array(z.union([z.string(), z.looseObject({ url: z.string(), title: z.string() })])),
    }),
  ),
});

/** An advisory that does not stop a release, until a day. */
export interface AuditException {
  /** Address of the advisory. */
  readonly advisory: string;
  /** Why it cannot be reached through this package. */
  readonly reason: string;
  /** Last day it holds, `YYYY-MM-DD`; at most 90 days ahead. */
  readonly until: string;
}

/** Advisories that were looked at and do not stop a release. */
export const AUDIT_EXCEPTIONS: readonly AuditException[] = [];

const DAY_MS = 24 * 60 * 60 * 1000;
const LONGEST_DAYS = 90;

/**
 * Why a release has to wait: every advisory against a package that comes with ours, installed or bundled, whatever its
 * severity, unless an exception holds; an exception that has run out, or holds for too long; an answer that is no report.
 *
 * @param text output of `npm audit --json`
 */
export function findAuditProblems(
  text: string,
  now: Date,
  packages: readonly RuntimePackage[],
  exceptions: readonly AuditException[] = AUDIT_EXCEPTIONS,
): string[] {
  const stale = exceptions.flatMap(({ advisory, until }) => {
    const left = Date.parse(`${until}T23:59:59Z`) - now.getTime();
    if (!(left >= 0)) return [`The exception for ${advisory} ended on ${until}.`];
    return left > (LONGEST_DAYS + 1) * DAY_MS ? [`The exception for ${advisory} holds longer than 90 days.`] : [];
  });
  const report = reportSchema.safeParse(parse(text));
  if (!report.success) return [...stale, "npm audit gave no report: the registry does not answer it."];
  const excepted = new Set(exceptions.map(({ advisory }) => advisory));
  const names = new Set(packages.map(({ id }) => id.replace(/@[^@]*$/, "")));
  const found = Object.entries(report.data.vulnerabilities).flatMap(([name, { severity, via }]) =>
    via.flatMap((cause) =>
      !names.has(name) || typeof cause === "string" || excepted.has(cause.url)
        ? []
        : [`${name} (${severity}): ${cause.title}, ${cause.url}`],
    ),
  );
  return [...stale, ...found];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
