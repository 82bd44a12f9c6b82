import type { ServiceCheck } from "../../../pairing/check-service.ts";
import { explainAbsence } from "../setup/explain-pairing.ts";

/** A clock that is off by more than this is worth a warning: links and approvals expire by it. */
const CLOCK_WARN_MS = 60_000;
/** A clock that is off by more than this makes them expire before anybody can answer. */
const CLOCK_FAIL_MS = 10 * 60_000;

/** The commands that a fix names. */
interface FixCommands {
  /** Makes a new key. */
  readonly pair: string;
  /** Sets another address; default: the one of the host's settings. */
  readonly setBaseUrl?: string;
}

/** What a service's answer means. */
export function diagnoseService(check: ServiceCheck, { pair, setBaseUrl }: FixCommands): Finding[] {
  const { baseUrl, problem, key, tools } = check;
  if (problem !== undefined) {
    const isAway = problem.code === "unreachable" || problem.code === "timeout";
    const text = isAway ? `No service answers at ${baseUrl}.` : `${baseUrl} does not work: ${problem.message}`;
    return [
      {
        id: "service",
        level: "fail",
        text,
        fix: problem.hint !== undefined && !isAway ? problem.hint : explainAbsence(baseUrl, setBaseUrl),
      },
    ];
  }
  const findings: Finding[] = [{ id: "service", level: "ok", text: `The service answers at ${baseUrl}.` }];
  if (key === "refused") {
    const text = `${baseUrl} does not accept the key: it was revoked, or it belongs to another service.`;
    findings.push({ id: "key.accepted", level: "fail", text, fix: `Pair again: ${pair}` });
  }
  if (key === "accepted") {
    findings.push({
      id: "key.accepted",
      level: "ok",
      text: `The key is accepted; the account has ${tools ?? 0} tools.`,
    });
    if (tools === 0) {
      const fix = `Connect an app in the dashboard: ${baseUrl}`;
      findings.push({ id: "apps", level: "warn", text: "The account has no tools: no app is connected.", fix });
    }
  }
  return [...findings, ...diagnoseClock(check)];
}

function diagnoseClock({ clockAheadMs }: ServiceCheck): Finding[] {
  if (clockAheadMs === undefined) return [];
  const off = Math.abs(clockAheadMs);
  if (off <= CLOCK_WARN_MS) return [{ id: "clock", level: "ok", text: "The clock agrees with the service's." }];
  const how = `${Math.round(off / 1000)} s ${clockAheadMs > 0 ? "ahead of" : "behind"}`;
  return [
    {
      id: "clock",
      level: off > CLOCK_FAIL_MS ? "fail" : "warn",
      text: `This machine's clock is ${how} the service's: links and approvals expire by it.`,
      fix: "Set the clock by the network (timedatectl set-ntp true), on the machine that is wrong.",
    },
  ];
}

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
