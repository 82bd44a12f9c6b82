import { sha256Hex } from "../../../../shared/base/hash.ts";
import { isRecord } from "../../../../shared/base/json.ts";
import { canonicalJson } from "../../../calls/ask/fingerprint.ts";
import { COMMAND_METHOD, type HostConfig } from "../host/host-api.ts";
import type { AskGateway } from "./diagnose-tools.ts";
import { type Finding, warn } from "./finding.ts";

/** The word that the gateway answers with {@link digestSettings} of what it was started with. */
export const ASK_SETTINGS = "settings";

/** Tells two sections of settings apart, without the key: equal for equal ones. */
export function digestSettings(pluginConfig: unknown): string {
  const { apiKey: _, ...rest } = isRecord(pluginConfig) ? pluginConfig : {};
  return sha256Hex(canonicalJson(rest));
}

/** Whether a running gateway has taken over the settings: it does not while a call waits or runs, and not afterwards. */
export async function diagnoseSettings(config: HostConfig, ask: AskGateway): Promise<Finding[]> {
  const asked = await ask(COMMAND_METHOD, { words: [ASK_SETTINGS] }, "operator.approvals");
  const digest = asked.ok && isRecord(asked.payload) ? asked.payload.data : undefined;
  const written = ["plugins", "entries", "svc", "config"].reduce<unknown>(
    (part, name) => (isRecord(part) ? part[name] : undefined),
    config,
  );
  if (typeof digest !== "string" || digest === digestSettings(written)) return [];
  const text =
    "The running gateway works with other settings of svc than are written: a call waited when they were changed.";
  return [warn("settings.stale", text, "openclaw plugins reload svc")];
}
