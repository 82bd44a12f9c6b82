import { createMediaRoots } from "../../media/roots.ts";
import { checkService, checkServiceAt, type ServiceCheckLimits } from "../../pairing/check-service.ts";
import { describeFailure } from "../../runtimes/openclaw/diagnose.ts";
import { diagnoseService } from "../../runtimes/openclaw/diagnose-service.ts";
import { type Finding, formatFindings, isHealthy } from "../../runtimes/openclaw/finding.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { DEFAULT_BASE_URL, openClient } from "../open-session.ts";
import { readProxy } from "../proxy.ts";
import { readSettings } from "../settings.ts";
import { checkOpenClaw } from "./doctor-openclaw.ts";

const SET_BASE_URL = "--base-url, SVC_BASE_URL or config.json";

/**
 * `svc doctor`: Node, settings, access, service, clock, media folders, and an OpenClaw on this machine; each finding
 * with its fix. Exit code 1 when something fails.
 */
export async function doctor(context: CliContext, flags: { baseUrl?: string }): Promise<number> {
  const openClaw = await checkOpenClaw(context.env);
  const own = await checkOwn(context, flags);
  context.signal.throwIfAborted();
  // Whoever uses svc in OpenClaw only needs no key of the command line's own.
  const isOptional = openClaw.usesSvc && own.some(({ id }) => id === "access");
  const findings = [checkNode(), ...(isOptional ? own.map((finding) => soften(finding)) : own), ...openClaw.findings];
  const ok = isHealthy(findings);
  context.terminal.answer({ ok, findings }, () => formatFindings(findings));
  return ok ? EXIT.ok : EXIT.failed;
}

function checkNode(): Finding {
  // An older one does not come as far as this: the entry refuses it.
  return { id: "node", level: "ok", text: `Node ${process.versions.node} is new enough.` };
}

async function checkOwn(context: CliContext, flags: { baseUrl?: string }): Promise<Finding[]> {
  return [...(await checkAccess(context, flags)), ...(await checkMedia(context))];
}

async function checkAccess(context: CliContext, flags: { baseUrl?: string }): Promise<Finding[]> {
  const limits = { proxy: readProxy(context.env), signal: context.signal };
  try {
    const { client } = await openClient(context, flags);
    try {
      const check = await checkService(client, limits);
      const how = client.credential === "oauth" ? "a sign-in" : "a key";
      const access: Finding = { id: "credential", level: "ok", text: `This machine has ${how} for ${client.baseUrl}.` };
      const pair = client.credential === "oauth" ? "svc login" : "svc pair --again";
      return [access, ...diagnoseService(check, { pair, setBaseUrl: SET_BASE_URL })];
    } finally {
      await client.close();
    }
  } catch (error) {
    const access = describeFailure(error, "access");
    const address = await checkAddress(context, flags, limits);
    // A wrong setting stands in the way of both, and is one thing to mend.
    return [access, ...address.filter(({ text }) => text !== access.text)];
  }
}

/** Without access the address alone is looked at: pairing needs it. */
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

function soften(finding: Finding): Finding {
  return finding.level === "fail" && finding.id !== "media" ? { ...finding, level: "warn" } : finding;
}
