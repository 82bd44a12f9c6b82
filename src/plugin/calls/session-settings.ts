import {
  atLeast,
  checkChoices,
  checkMembers,
  checkNumbers,
  checkPaths,
  checkTypes,
  refuseSetting,
  WAIT_BOUNDS,
} from "../../shared/base/check-settings.ts";
import type { PipelineSettings } from "./pipeline.ts";
import type { SessionSettings, ToolSessionOptions } from "./session.ts";

const APPROVAL_TTL_MS = 10 * 60 * 1_000;
const CONNECT_TIMEOUT_MS = 10 * 60 * 1_000;

type Name = keyof SessionSettings | "client" | "baseUrl" | "apiKey" | "principal";

/** Complete, because the compiler compares it with the type. */
const NAMES: Readonly<Record<Name, true>> = {
  client: true,
  baseUrl: true,
  apiKey: true,
  principal: true,
  approve: true,
  chooseConnection: true,
  presentConnectLink: true,
  allow: true,
  mediaRoots: true,
  mediaFiles: true,
  privateFolders: true,
  stateDir: true,
  pinFile: true,
  pinning: true,
  upload: true,
  validation: true,
  profile: true,
  idempotencyKeys: true,
  approvalTtlMs: true,
  connectTimeoutMs: true,
  timeoutMs: true,
  maxResultChars: true,
  receiveResult: true,
  onEvent: true,
  now: true,
  sleep: true,
  random: true,
};

/**
 * Refuses options that are no setting of a session, nor among a runtime's `own`.
 *
 * @throws SvcError `invalid_config` naming the first
 */
export function checkSettingNames(options: object, own: readonly string[] = []): void {
  checkMembers(options, [...own, ...Object.keys(NAMES)]);
}

/**
 * Checks the settings of a session and fills in the defaults.
 *
 * @throws SvcError `invalid_config` naming a setting that does not exist or cannot have its value
 */
export function readSettings(options: ToolSessionOptions): Omit<PipelineSettings, "timeoutMs"> {
  checkSettingNames(options);
  const { approve } = options;
  if (approve !== undefined && approve !== "owner" && typeof approve !== "function")
    throw refuseSetting("approve", approve, 'a function, or "owner"');
  checkTypes(options, { stateDir: "string", pinFile: "string" });
  checkTypes(options, { chooseConnection: "function", presentConnectLink: "function", receiveResult: "function" });
  checkTypes(options, { onEvent: "function", now: "function", sleep: "function", random: "function" });
  checkPaths(options, ["mediaRoots", "mediaFiles", "privateFolders"]);
  checkNumbers(options, {
    approvalTtlMs: WAIT_BOUNDS,
    connectTimeoutMs: WAIT_BOUNDS,
    timeoutMs: WAIT_BOUNDS,
    maxResultChars: atLeast(1),
  });
  checkChoices(options, {
    upload: ["envelope", "ingest"],
    validation: ["advise", "strict", "off"],
    profile: ["full", "gemini"],
    idempotencyKeys: ["when_known", "off"],
    pinning: ["off", "report", "ask"],
  });
  return {
    upload: options.upload ?? "envelope",
    validation: options.validation ?? "advise",
    profile: options.profile ?? "full",
    idempotencyKeys: options.idempotencyKeys ?? "when_known",
    approvalTtlMs: options.approvalTtlMs ?? APPROVAL_TTL_MS,
    connectTimeoutMs: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
  };
}
