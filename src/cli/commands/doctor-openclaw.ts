import { existsSync } from "node:fs";
import { join } from "node:path";
import { describeSubject } from "../../runtimes/openclaw/diagnose.ts";
import { diagnoseActions } from "../../runtimes/openclaw/diagnose-actions.ts";
import { diagnoseConfig } from "../../runtimes/openclaw/diagnose-config.ts";
import type { Finding } from "../../runtimes/openclaw/finding.ts";
import { isRecord } from "../../runtimes/openclaw/parse-lenient-json.ts";
import { createPlaces } from "../../runtimes/openclaw/places.ts";
import { readEnvironment } from "../../runtimes/openclaw/read-environment.ts";
import { readHostConfig } from "../../runtimes/openclaw/read-host-config.ts";

/** What was found of an OpenClaw on this machine. */
export interface OpenClawReport {
  /** True when svc is set up in it. */
  readonly usesSvc: boolean;
  readonly findings: readonly Finding[];
}

/** Looks at the configuration and the action tools of an OpenClaw; finds nothing where there is none. */
export async function checkOpenClaw(env: NodeJS.ProcessEnv): Promise<OpenClawReport> {
  const { stateDir, mediaDir } = readEnvironment(env);
  const places = createPlaces(stateDir, mediaDir);
  const path = env.OPENCLAW_CONFIG_PATH?.trim() || join(stateDir, "openclaw.json");
  const reading = await readHostConfig(path);
  const hasState = existsSync(places.state);
  if (reading.kind === "missing") return { usesSvc: hasState, findings: [] };
  if (reading.kind === "unreadable") {
    const text = `OpenClaw's configuration (${path}) was not looked at: ${reading.reason}.`;
    return { usesSvc: hasState, findings: [name({ id: "config", level: "warn", text, fix: "openclaw svc status" })] };
  }
  if (!hasState && !namesSvc(reading.config)) {
    const text = `OpenClaw is on this machine (${stateDir}), without svc. To add it: openclaw plugins install npm:svc-agent-plugin`;
    return { usesSvc: false, findings: [name({ id: "plugin", level: "ok", text })] };
  }
  const findings = [
    ...diagnoseConfig(describeSubject(places, reading.config)),
    ...(reading.includesOthers ? [describeIncludes(path)] : []),
    ...diagnoseActions(places, {}),
  ];
  return { usesSvc: true, findings: [...findings, describeKey()].map(name) };
}

function namesSvc(config: Readonly<Record<string, unknown>>): boolean {
  const plugins = isRecord(config.plugins) ? config.plugins : {};
  return isRecord(plugins.entries) && "svc" in plugins.entries;
}

function describeIncludes(path: string): Finding {
  const text = `${path} includes other files, which were not looked at.`;
  return { id: "config.includes", level: "warn", text, fix: "openclaw svc status" };
}

/** The host's store is its own: no other program reads it. */
function describeKey(): Finding {
  return { id: "key", level: "ok", text: "OpenClaw keeps a key of its own; openclaw svc status checks it." };
}

function name(finding: Finding): Finding {
  return { ...finding, id: `openclaw.${finding.id}` };
}
