import { isSvcError } from "../../../errors.ts";
import { createMediaRoots } from "../../../media/open/roots.ts";
import { checkServiceAt, type ServiceCheck } from "../../../pairing/check-service.ts";
import { readActions } from "../actions/actions-file.ts";
import { type CommandAnswer, EXIT } from "../commands/command-answer.ts";
import { listMediaPlaces } from "../files/media-places.ts";
import type { HostConfig } from "../host/host-api.ts";
import type { Places } from "../host/places.ts";
import { STATIC_DEFINITIONS } from "../register-tools.ts";
import { DEFAULT_BASE_URL } from "../setup/plugin-settings.ts";
import type { SvcHost } from "../svc-host.ts";
import { diagnoseService, type Finding, formatFindings, isHealthy } from "./diagnose-service.ts";
import { type AskGateway, diagnoseActions, diagnoseCompanion, diagnoseTools } from "./diagnose-tools.ts";

/** What a look at everything found. */
interface Diagnosis {
  readonly baseUrl: string | undefined;
  /** Where the key is from; undefined when there is none. */
  readonly key: "config" | "environment" | "host" | "file" | undefined;
  /** Tools of the account; undefined when the service did not tell. */
  readonly tools: number | undefined;
  /** Actions with a tool of their own. */
  readonly actions: number;
  readonly findings: readonly Finding[];
}

const SOURCES = {
  config: "the plugin's settings",
  environment: "SVC_API_KEY",
  host: "OpenClaw's credential store",
  file: "the plugin's own file",
} as const;

const PAIR =
  "openclaw svc pair (the same as openclaw models auth login --provider svc --method pair), or /login svc in a chat";

/** Settings of {@link diagnose}. */
interface DiagnoseOptions {
  readonly config: HostConfig;
  /** The conversation that asks; default the latest one. */
  readonly sessionKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Replaced in tests. */
  readonly ask?: AskGateway | undefined;
}

/** Checks settings, key, service, clock, action tools, media folders, and the tools that the host offers. */
export async function diagnose(host: SvcHost, options: DiagnoseOptions): Promise<Diagnosis> {
  const { config, signal } = options;
  const settings = catchError(() => host.settings(), "settings");
  if ("finding" in settings) return summarise(host.places, undefined, undefined, [settings.finding]);
  const key = await findKey(host);
  const findings: Finding[] = [key.finding];
  let check: ServiceCheck | undefined;
  if (!key.isUnusable) {
    // Without a key the address alone is looked at: pairing needs it.
    const baseUrl = settings.value.baseUrl ?? DEFAULT_BASE_URL;
    check = await checkServiceAt(key.found ?? { baseUrl }, { signal });
    findings.push(...diagnoseService(check, { pair: PAIR }));
  }
  const owner = key.found === undefined ? {} : { principal: check?.principal };
  findings.push(
    ...diagnoseActions(host.places, owner),
    ...diagnoseCompanion(host.places, config),
    ...(await diagnoseMedia(host.places, settings.value.mediaRoots)),
    await diagnoseTools(listTools(host.places), options),
  );
  return summarise(host.places, key.found, check, findings);
}

function listTools(places: Places): string[] {
  const actions = readActions(places.actions)?.actions ?? [];
  return [...STATIC_DEFINITIONS, ...actions].map(({ name }) => name);
}

type FoundKey = NonNullable<Awaited<ReturnType<SvcHost["findKey"]>>>;

function summarise(
  places: Places,
  key: FoundKey | undefined,
  check: ServiceCheck | undefined,
  findings: readonly Finding[],
): Diagnosis {
  const actions = readActions(places.actions)?.actions.length ?? 0;
  return { baseUrl: key?.baseUrl, key: key?.source, tools: check?.tools, actions, findings };
}

/** `isUnusable`: a key is there, but it must not be sent to the address that is set. */
async function findKey(
  host: SvcHost,
): Promise<{ readonly found?: FoundKey; readonly isUnusable?: boolean; readonly finding: Finding }> {
  try {
    const found = await host.findKey(undefined);
    if (found === undefined) {
      return { finding: { id: "key", level: "fail", text: "Not paired: there is no key.", fix: PAIR } };
    }
    const text = `The key is from ${SOURCES[found.source]} and goes to ${found.baseUrl} only.`;
    return { found, finding: { id: "key", level: "ok", text } };
  } catch (error) {
    return { isUnusable: true, finding: describeFailure(error, "key") };
  }
}

async function diagnoseMedia(places: Places, mediaRoots: readonly string[]): Promise<Finding[]> {
  const { mediaRoots: roots, privateFolders } = listMediaPlaces(places, mediaRoots);
  try {
    const opened = await createMediaRoots(roots, { privateFolders });
    await opened.close();
    const text = `Files may be attached from ${[`attachments in ${places.media}`, ...mediaRoots].join(", ")}.`;
    return [{ id: "media", level: "ok", text }];
  } catch (error) {
    return [describeFailure(error, "media")];
  }
}

function catchError<Value>(work: () => Value, id: string): { value: Value } | { finding: Finding } {
  try {
    return { value: work() };
  } catch (error) {
    return { finding: describeFailure(error, id) };
  }
}

/** An error of ours as a finding; any other is thrown again. */
export function describeFailure(error: unknown, id: string): Finding {
  if (!isSvcError(error)) throw error;
  return { id, level: "fail", text: error.message, ...(error.hint === undefined ? {} : { fix: error.hint }) };
}

/** Whether everything works, and if not, why and what to do. */
export async function showStatus(host: SvcHost, options: DiagnoseOptions): Promise<CommandAnswer> {
  const diagnosis = await diagnose(host, options);
  const { findings, key } = diagnosis;
  const ok = isHealthy(findings);
  const exit = ok ? EXIT.ok : key === undefined ? EXIT.notPaired : EXIT.failed;
  return { exit, text: formatFindings(findings), data: { ok, ...diagnosis } };
}
