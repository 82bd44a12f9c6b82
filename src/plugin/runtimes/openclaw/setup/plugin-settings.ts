import { isRecord } from "../../../../shared/base/json.ts";
import { SvcError } from "../../../../shared/errors.ts";
import type { Environment } from "./read-environment.ts";

/** Address of the service when neither settings, environment nor a stored key name one. */
export const DEFAULT_BASE_URL = "http://127.0.0.1:8790";

/** Settings of the plugin: `plugins.entries.svc.config`; the environment only where that says nothing. */
export interface PluginSettings {
  /** As set, in its one spelling and not checked yet; undefined: where the stored key was issued, else {@link DEFAULT_BASE_URL}. */
  readonly baseUrl: string | undefined;
  /** Folders for local files besides the host's media folder. */
  readonly mediaRoots: readonly string[];
  readonly upload: "envelope" | "ingest";
  readonly validation: "advise" | "strict" | "off";
  /** Seconds a request for approval waits, 5 to 600; undefined: the plugin's default. */
  readonly approvalSeconds: number | undefined;
  /** The key from the settings: a text, or a reference the host has not resolved in this process. */
  readonly apiKey: string | SecretReference | undefined;
  /** Which tools `sync` turns into action tools of their own. */
  readonly actions: {
    /** Slugs; undefined: all apps. */
    readonly integrations: readonly string[] | undefined;
    /** Most action tools; undefined: the plugin's default. */
    readonly limit: number | undefined;
    /** Most tokens of all of them; undefined: any number. */
    readonly maxToolTokens: number | undefined;
  };
}

interface SecretReference {
  readonly source: string;
  readonly provider: string;
  readonly id: string;
}

/**
 * Reads the settings; the host has checked them by the manifest's schema before. A setting wins over `SVC_BASE_URL`, as
 * a set key wins over `SVC_API_KEY`.
 *
 * @throws SvcError `invalid_config` naming the field
 */
export function readPluginSettings(pluginConfig: unknown, environment: Pick<Environment, "baseUrl">): PluginSettings {
  const values = read("config", pluginConfig ?? {}, isRecord, "an object") ?? {};
  const actions = read("actions", values.actions ?? undefined, isRecord, "an object") ?? {};
  const baseUrl = read("baseUrl", dropEmpty(values.baseUrl), isText, "a text") ?? environment.baseUrl;
  return {
    baseUrl: baseUrl === undefined ? undefined : spellAddress(baseUrl),
    mediaRoots: read("mediaRoots", values.mediaRoots, isTexts, "a list of texts") ?? [],
    upload: readChoice("upload", values.upload, ["envelope", "ingest"]),
    validation: readChoice("validation", values.validation, ["advise", "strict", "off"]),
    approvalSeconds: read("approvalSeconds", values.approvalSeconds, isCount, "a whole number"),
    apiKey: readSecret(dropEmpty(values.apiKey)),
    actions: {
      integrations: read("actions.integrations", actions.integrations, isTexts, "a list of texts"),
      limit: read("actions.limit", actions.limit, isCount, "a whole number"),
      maxToolTokens: read("actions.maxToolTokens", actions.maxToolTokens, isCount, "a whole number"),
    },
  };
}

type Guard<Value> = (value: unknown) => value is Value;

/** Undefined where nothing is set. */
function read<Value>(field: string, value: unknown, isRight: Guard<Value>, expected: string): Value | undefined {
  return value === undefined ? undefined : check(field, value, isRight, expected);
}

function check<Value>(field: string, value: unknown, isRight: Guard<Value>, expected: string): Value {
  if (isRight(value)) return value;
  throw new SvcError("invalid_config", `The setting ${field} must be ${expected}.`, {
    field: `plugins.entries.svc.config.${field}`,
    hint: "Correct it in the host's configuration, or remove it to use the default.",
  });
}

/** The first choice is the default. */
function readChoice<Choice extends string>(field: string, value: unknown, choices: readonly [Choice, ...Choice[]]) {
  const isChoice = (text: unknown): text is Choice => choices.some((choice) => choice === text);
  return read(field, value, isChoice, choices.map((choice) => `"${choice}"`).join(" or ")) ?? choices[0];
}

function readSecret(value: unknown): PluginSettings["apiKey"] {
  if (value === undefined || isText(value)) return value;
  const expected = "a text or a secret reference with source and id";
  const { source, provider, id } = check("apiKey", value, isReference, expected);
  return { source, provider: isText(provider) ? provider : "default", id };
}

function isReference(value: unknown): value is { source: string; provider?: unknown; id: string } {
  return isRecord(value) && isText(value.source) && isText(value.id);
}

const dropEmpty = (value: unknown) => (value === "" ? undefined : value);

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((text) => isText(text) && text !== "");
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}

/**
 * The one spelling of an address, as `parseBaseUrl` of the client gives it, so that addresses can be compared as text.
 * Text that is no address stays as it is, for the client to refuse. Written here, since loading the client's parser
 * too would slow down each registration.
 */
export function spellAddress(text: string): string {
  const url = URL.parse(text);
  if (url === null || url.username + url.password + url.search + url.hash !== "") return text;
  return /^https?:$/.test(url.protocol) ? url.origin + url.pathname.replace(/\/+$/, "") : text;
}
