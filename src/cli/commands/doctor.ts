import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { createMediaRoots } from "../../plugin/media/open/roots.ts";
import { checkService, checkServiceAt, type ServiceCheckLimits } from "../../plugin/pairing/check-service.ts";
import { openCredentialStore } from "../../plugin/pairing/credentials.ts";
import { describeFailure, diagnoseService } from "../../plugin/runtimes/openclaw/doctor/diagnose.ts";
import { diagnoseActions } from "../../plugin/runtimes/openclaw/doctor/diagnose-tools.ts";
import { type Finding, fail, formatFindings, isHealthy, ok } from "../../plugin/runtimes/openclaw/doctor/finding.ts";
import { createPlaces } from "../../plugin/runtimes/openclaw/host/places.ts";
import { hasKeyOrigin } from "../../plugin/runtimes/openclaw/setup/find-key.ts";
import { readEnvironment } from "../../plugin/runtimes/openclaw/setup/read-environment.ts";
import { type CliContext, findPlaces } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { findProgram, listFiles, listMcpClients } from "../mcp-client-files.ts";
import { DEFAULT_BASE_URL, findKeyFolder, openClient, readProxy } from "../open-session.ts";
import { readSettings } from "../settings.ts";
import { SERVER_NAME } from "./install.ts";

const SET_BASE_URL = "--base-url, SVC_BASE_URL or config.json";

/**
 * `svc doctor`: Node, settings, access, service, clock, media folders, agent clients that start svc, and an OpenClaw on
 * this machine; each finding with its fix. Exit code 1 when something fails.
 */
export async function doctor(context: CliContext, flags: { baseUrl?: string }): Promise<number> {
  context.terminal.wait("looking");
  const openClaw = await checkOpenClaw(context.env);
  const own = [...(await checkAccess(context, flags)), ...(await checkMedia(context))];
  context.signal.throwIfAborted();
  // Inside OpenClaw the command line needs no key of its own.
  const isOptional = openClaw.usesSvc && own.some(({ id }) => id === "access");
  // An older Node never gets here: the entry refuses it.
  const node: Finding = { id: "node", level: "ok", text: `Node ${process.versions.node} is new enough.` };
  const clients = await checkClients(context.env);
  const findings = [node, ...(isOptional ? own.map(soften) : own), ...clients, ...openClaw.findings];
  const isWell = isHealthy(findings);
  context.terminal.answer({ ok: isWell, findings }, () => formatFindings(findings));
  return isWell ? EXIT.ok : EXIT.failed;
}

async function checkAccess(context: CliContext, flags: { baseUrl?: string }): Promise<Finding[]> {
  const limits = { proxy: readProxy(context.env), signal: context.signal };
  try {
    const { client } = await openClient(context, flags);
    try {
      const check = await checkService(client, limits);
      const access: Finding = { id: "credential", level: "ok", text: `This machine has a key for ${client.baseUrl}.` };
      return [access, ...diagnoseService(check, { pair: "svc pair --again", setBaseUrl: SET_BASE_URL })];
    } finally {
      await client.close();
    }
  } catch (error) {
    const access = describeFailure(error, "access");
    const address = await checkAddress(context, flags, limits);
    // A wrong setting fails both checks and is reported once.
    return [access, ...address.filter(({ text }) => text !== access.text)];
  }
}

/** Checks the address alone when there is no access yet: pairing needs it. */
async function checkAddress(
  context: CliContext,
  flags: { baseUrl?: string },
  limits: ServiceCheckLimits,
): Promise<Finding[]> {
  try {
    const { baseUrl = DEFAULT_BASE_URL } = await readSettings(context.places, context.env, flags);
    const check = await checkServiceAt({ baseUrl }, limits);
    return diagnoseService(check, { pair: "svc pair", setBaseUrl: SET_BASE_URL });
  } catch (error) {
    return [describeFailure(error, "settings")];
  }
}

async function checkMedia(context: CliContext): Promise<Finding[]> {
  try {
    const { mediaRoots } = await readSettings(context.places, context.env, {});
    const roots = await createMediaRoots(mediaRoots);
    await roots.close();
    return [{ id: "media", level: "ok", text: `Files may be attached from: ${mediaRoots.join(", ")}` }];
  } catch (error) {
    return [describeFailure(error, "media")];
  }
}

/** Whether each agent client whose file starts `svc mcp` still can, and finds a key. */
async function checkClients(env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const client of listMcpClients({ platform: process.platform, env }).flatMap(listFiles)) {
    const program = await findProgram(client, SERVER_NAME);
    if (program === undefined || !program.args.includes("mcp")) continue;
    const { command, args, env: own = {} } = program;
    const gone = [command, ...args.slice(0, 1)].find((path) => isAbsolute(path) && !existsSync(path));
    const places = findPlaces(own);
    // An entry of an earlier version names no client: it uses the key of the machine.
    const keyFolder = args.includes("--client") ? findKeyFolder(places, client.name) : places.config;
    const hasKey = own.SVC_API_KEY !== undefined || existsSync(openCredentialStore(keyFolder).path);
    const cause = gone === undefined ? "there is no key" : `${gone} is gone`;
    const id = `client.${client.name}`;
    findings.push(
      gone === undefined && hasKey
        ? ok(id, `${client.title} starts svc: ${client.file}`)
        : fail(id, `${client.title} cannot start svc: ${cause}.`, `svc install --client ${client.name}`),
    );
  }
  return findings;
}

function soften(finding: Finding): Finding {
  return finding.level === "fail" && finding.id !== "media" ? { ...finding, level: "warn" } : finding;
}

/** Checks svc's files in an OpenClaw on this machine; no findings without one. `usesSvc`: it was paired or synced there. */
async function checkOpenClaw(env: NodeJS.ProcessEnv): Promise<{ usesSvc: boolean; findings: readonly Finding[] }> {
  const { stateDir, mediaDir } = readEnvironment(env);
  const places = createPlaces(stateDir, mediaDir);
  if (!existsSync(stateDir)) return { usesSvc: false, findings: [] };
  if (!existsSync(places.state)) {
    const text = `OpenClaw is on this machine (${stateDir}), without a paired svc. docs/openclaw.md says how to add it.`;
    return { usesSvc: false, findings: [{ id: "openclaw.plugin", level: "ok", text }] };
  }
  if (!existsSync(places.actions) && !(await hasKeyOrigin(places))) {
    const text = "svc was used in OpenClaw. Whether it is paired there now: openclaw svc status";
    return { usesSvc: false, findings: [ok("openclaw.plugin", text)] };
  }
  const actions = diagnoseActions(places, {}).map((finding) => ({ ...finding, id: `openclaw.${finding.id}` }));
  const text = "svc is used in OpenClaw. Its key, its configuration and its visible tools: openclaw svc status";
  return { usesSvc: true, findings: [{ id: "openclaw.plugin", level: "ok", text }, ...actions] };
}
