import { isRecord } from "../../../base/json.ts";
import type { HostToolContext } from "../host/host-tool.ts";
import type { PluginSettings } from "../setup/plugin-settings.ts";

/** What a wait inside a call is judged by. */
type Waiter = Pick<HostToolContext, "activeModel" | "config" | "runtimeConfig" | "messageChannel" | "sessionKey">;

/** Codex ends a call of ours after 90 seconds, whatever it waits for. */
const CODEX_MS = 75_000;
/** Somebody who started a run in a terminal or over HTTP has no chat in front of them. */
const AWAY_MS = 60_000;
const DEFAULT_MS = 5 * 60_000;
/** The host's own limit. */
const LONGEST_MS = 10 * 60_000;

/** Milliseconds a card waits for its answer before a call runs: as set, 5 minutes by default, at most 10. */
export function findCardWait(settings: Pick<PluginSettings, "approvalSeconds">): number {
  const { approvalSeconds } = settings;
  return approvalSeconds === undefined ? DEFAULT_MS : Math.min(approvalSeconds * 1_000, LONGEST_MS);
}

/** Milliseconds a running call may wait for an approval. */
export function findApprovalWait(settings: Pick<PluginSettings, "approvalSeconds">, context: Waiter): number {
  return Math.min(findCardWait(settings), isCodex(context) ? CODEX_MS : LONGEST_MS);
}

/** Milliseconds a running call may wait for the answer to a question; the host does not say whether anybody sees it. */
export function findQuestionWait(settings: Pick<PluginSettings, "approvalSeconds">, context: Waiter): number {
  return Math.min(findApprovalWait(settings, context), context.messageChannel === undefined ? AWAY_MS : LONGEST_MS);
}

/** True in a run that nobody is watching. */
export function isUnattended({ sessionKey }: Waiter): boolean {
  return sessionKey !== undefined && /:(cron|heartbeat)(:|$)/.test(sessionKey);
}

/** OpenAI's models run in Codex when its plugin is on. */
function isCodex({ activeModel, config, runtimeConfig }: Waiter): boolean {
  const provider = activeModel?.provider ?? "";
  if (/codex/i.test(provider)) return true;
  const read = (value: unknown, name: string) => (isRecord(value) ? value[name] : undefined);
  const codex = ["plugins", "entries", "codex", "enabled"].reduce<unknown>(read, runtimeConfig ?? config);
  return provider === "openai" && codex === true;
}
