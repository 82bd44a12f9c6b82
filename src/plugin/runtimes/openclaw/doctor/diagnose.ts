import { isSvcError } from "../../../../shared/errors.ts";
import { createMediaRoots } from "../../../media/open/roots.ts";
import { checkServiceAt, isAway, type ServiceCheck } from "../../../pairing/check-service.ts";
import { readActions } from "../actions/actions-file.ts";
import { type CommandAnswer, EXIT } from "../commands/command-answer.ts";
import type { HostConfig } from "../host/host-api.ts";
import { askGateway } from "../host/load-sdk.ts";
import { listMediaPlaces } from "../host/places.ts";
import { explainAbsence } from "../setup/find-key.ts";
import { DEFAULT_BASE_URL, type PluginSettings } from "../setup/plugin-settings.ts";
import type { SvcHost } from "../svc-host.ts";
import { STATIC_DEFINITIONS } from "../translate-tool.ts";
import { diagnoseSettings } from "./diagnose-settings.ts";
import {
  type AskGateway,
  diagnoseActions,
  diagnoseCompanion,
  diagnoseSandbox,
  diagnoseTools,
} from "./diagnose-tools.ts";
import { type Finding, fail, formatFindings, isHealthy, ok, warn } from "./finding.ts";

const SOURCES = {
  config: "the plugin's settings",
  environment: "SVC_API_KEY",
  host: "OpenClaw's credential store",
  file: "the plugin's own file",
} as const;

const PAIR =
  "openclaw svc pair (the same as openclaw models auth login --provider svc --method pair), or /login svc in a chat";

interface StatusOptions {
  readonly config: HostConfig;
  /** The conversation that asks; default the latest one. */
  readonly sessionKey?: string | undefined;
  /** One line where all is well, for a chat. */
  readonly isShort?: boolean | undefined;
  /** Replaced in tests. */
  readonly ask?: AskGateway | undefined;
}

/** Whether settings, key, service, clock, action tools and media folders are right, and if not, why and what to do. */
export async function showStatus(host: SvcHost, options: StatusOptions): Promise<CommandAnswer> {
  const { findings, key, check } = await diagnose(host, options);
  const isWell = isHealthy(findings);
  const actions = readActions(host.places.actions)?.actions ?? [];
  const isFine = findings.every(({ level }) => level === "ok");
  const apps = new Set(actions.map(({ integration }) => integration)).size;
  const short = `All well: ${actions.length} tools of ${apps} apps. Each check: openclaw svc status`;
  const data = {
    ok: isWell,
    baseUrl: key?.baseUrl,
    key: key?.source,
    tools: check?.tools,
    actions: actions.length,
    findings,
  };
  const exit = isWell ? EXIT.ok : key === undefined ? EXIT.notPaired : EXIT.failed;
  return { exit, text: isFine && options.isShort === true ? short : formatFindings(findings), data };
}

interface Diagnosis {
  readonly findings: readonly Finding[];
  readonly key?: Awaited<ReturnType<SvcHost["findKey"]>>;
  readonly check?: ServiceCheck;
}

async function diagnose(host: SvcHost, options: StatusOptions): Promise<Diagnosis> {
  const { places } = host;
  let settings: PluginSettings;
  try {
    settings = host.settings();
  } catch (error) {
    return { findings: [describeFailure(error, "settings")] };
  }
  const access = await diagnoseKey(host, settings);
  const owner =
    access.key === undefined ? { isPaired: false } : { principal: access.key.principal ?? access.check?.principal };
  const actions = diagnoseActions(places, owner);
  const own = readActions(places.actions)?.actions.map(({ name }) => name) ?? [];
  const findings = [
    ...access.findings,
    ...(await diagnoseSettings(options.config, options.ask ?? askGateway)),
    ...actions,
    ...diagnoseCompanion(places, options.config),
    await diagnoseMedia(host, settings),
    ...diagnoseSandbox(options.config),
    await diagnoseTools([...STATIC_DEFINITIONS.map(({ name }) => name), ...own], { ...options, actions: own }),
  ];
  return { ...access, findings };
}

async function diagnoseKey(host: SvcHost, settings: PluginSettings): Promise<Diagnosis> {
  let key: Diagnosis["key"];
  try {
    key = await host.findKey(undefined);
  } catch (error) {
    // A key for another address is not sent, and that address is not asked.
    return { findings: [describeFailure(error, "key")] };
  }
  // Without a key the address alone is looked at: pairing needs it.
  const check = await checkServiceAt(key ?? { baseUrl: settings.baseUrl ?? DEFAULT_BASE_URL });
  const found =
    key === undefined
      ? fail("key", "Not paired: there is no key.", PAIR)
      : ok("key", `The key is from ${SOURCES[key.source]} and goes to ${key.baseUrl} only.`);
  return { key, check, findings: [found, ...diagnoseService(check, { pair: PAIR })] };
}

async function diagnoseMedia({ places }: SvcHost, { mediaRoots }: PluginSettings): Promise<Finding> {
  const { mediaRoots: roots, privateFolders } = listMediaPlaces(places, mediaRoots);
  try {
    await (await createMediaRoots(roots, { privateFolders })).close();
    return ok("media", `Files may be attached from ${[`attachments in ${places.media}`, ...mediaRoots].join(", ")}.`);
  } catch (error) {
    return describeFailure(error, "media");
  }
}

/** An error of ours as a finding; any other is thrown again. */
export function describeFailure(error: unknown, id: string): Finding {
  if (!isSvcError(error)) throw error;
  return fail(id, error.message, error.hint);
}

/** A clock that is off by more than this is worth a warning: links and approvals expire by it. */
const CLOCK_WARN_MS = 60_000;
/** A clock that is off by more than this makes them expire before anybody can answer. */
const CLOCK_FAIL_MS = 10 * 60_000;

/**
 * The answer of a service as findings: does it answer, does it take the key, does its clock agree? A fix names the commands
 * that make a new key (`pair`) and set another address (default: the one of the host's settings).
 */
export function diagnoseService(
  check: ServiceCheck,
  { pair, setBaseUrl }: { readonly pair: string; readonly setBaseUrl?: string },
): Finding[] {
  const { baseUrl, problem, key, refusal = "", tools = 0 } = check;
  if (problem !== undefined) {
    const { message, hint } = problem;
    const absence = explainAbsence(baseUrl, setBaseUrl);
    if (isAway(problem)) return [fail("service", `No service answers at ${baseUrl}.`, absence)];
    return [fail("service", `${baseUrl} does not work: ${message}`, hint ?? absence)];
  }
  const findings = [ok("service", `The service answers at ${baseUrl}.`)];
  if (key === "refused") {
    const isOver = /\bexpired\b/i.test(refusal);
    const why = isOver ? "its time is over" : "it was revoked, or it belongs to another service";
    const text = `${baseUrl} does not accept the key: ${why}.`;
    findings.push(fail("key.accepted", text, `Pair again: ${pair}`));
  }
  if (key === "accepted") {
    findings.push(ok("key.accepted", `The key is accepted; the account has ${tools} tools.`));
    const fix = `Connect an app in the dashboard: ${baseUrl}`;
    if (check.tools === 0) findings.push(warn("apps", "The account has no tools: no app is connected.", fix));
  }
  return [...findings, ...diagnoseClock(check)];
}

function diagnoseClock({ clockAheadMs }: ServiceCheck): Finding[] {
  if (clockAheadMs === undefined) return [];
  const off = Math.abs(clockAheadMs);
  if (off <= CLOCK_WARN_MS) return [ok("clock", "The clock agrees with the service's.")];
  const how = `${Math.round(off / 1000)} s ${clockAheadMs > 0 ? "ahead of" : "behind"}`;
  const text = `This machine's clock is ${how} the service's: links and approvals expire by it.`;
  const fix = "Set the clock by the network (timedatectl set-ntp true), on the machine that is wrong.";
  return [(off > CLOCK_FAIL_MS ? fail : warn)("clock", text, fix)];
}
