import { SvcError } from "../../../errors.ts";
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
  };
}

/** Where the host finds a secret. */
export interface SecretReference {
  readonly source: string;
  readonly provider: string;
  readonly id: string;
}

type Values = Readonly<Record<string, unknown>>;

/**
 * Reads the settings; the host has checked them by the manifest's schema before. A setting wins over `SVC_BASE_URL`, as
 * a set key wins over `SVC_API_KEY`.
 *
 * @throws SvcError `invalid_config` naming the field
 */
export function readPluginSettings(pluginConfig: unknown, environment: Pick<Environment, "baseUrl">): PluginSettings {
  const values = readObject(pluginConfig, "config") ?? {};
  const actions = readObject(values.actions, "actions") ?? {};
  const baseUrl = readText(values, "baseUrl") ?? environment.baseUrl;
  return {
    baseUrl: baseUrl === undefined ? undefined : spellAddress(baseUrl),
    mediaRoots: readTexts(values.mediaRoots, "mediaRoots") ?? [],
    upload: readChoice(values, "upload", ["envelope", "ingest"]) ?? "envelope",
    validation: readChoice(values, "validation", ["advise", "strict", "off"]) ?? "advise",
    approvalSeconds: readCount(values.approvalSeconds, "approvalSeconds"),
    apiKey: readSecret(values.apiKey),
    actions: {
      integrations: readTexts(actions.integrations, "actions.integrations"),
      limit: readCount(actions.limit, "actions.limit"),
    },
  };
}

function readObject(value: unknown, field: string): Values | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "object" && !Array.isArray(value)) return value as Values;
  throw refuse(field, "an object");
}

function readText(values: Values, field: string): string | undefined {
  const value = values[field];
  if (value === undefined || value === "") return undefined;
  if (typeof value === "string") return value;
  throw refuse(field, "a text");
}

function readTexts(value: unknown, field: string): readonly string[] | undefined {
  if (value === undefined) return undefined;
  if (Array.isArray(value) && value.every((one): one is string => typeof one === "string" && one !== "")) return value;
  throw refuse(field, "a list of texts");
}

function readChoice<Choice extends string>(values: Values, field: string, choices: readonly Choice[]) {
  const value = values[field];
  if (value === undefined) return undefined;
  const found = choices.find((choice) => choice === value);
  if (found !== undefined) return found;
  throw refuse(field, choices.map((choice) => `"${choice}"`).join(" or "));
}

function readCount(value: unknown, field: string): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isInteger(value) && value >= 0) return value;
  throw refuse(field, "a whole number");
}

function readSecret(value: unknown): PluginSettings["apiKey"] {
  if (value === undefined || value === "") return undefined;
  if (typeof value === "string") return value;
  const { source, provider, id } = readObject(value, "apiKey") ?? {};
  if (typeof source === "string" && typeof id === "string") {
    return { source, provider: typeof provider === "string" ? provider : "default", id };
  }
  throw refuse("apiKey", "a text or a secret reference with source and id");
}

function refuse(field: string, expected: string): SvcError {
  return new SvcError("invalid_config", `The setting ${field} must be ${expected}.`, {
    field: `plugins.entries.svc.config.${field}`,
    hint: "Correct it in the host's configuration, or remove it to use the default.",
  });
}

/**
 * The one spelling of an address, as `parseBaseUrl` of the client gives it, so that addresses can be compared as text.
 * What cannot be an address stays as it is, for the client to refuse. Written here, since loading the client's parser
 * too would slow down each registration.
 */
export function spellAddress(text: string): string {
  const url = URL.parse(text);
  if (url === null || url.username + url.password + url.search + url.hash !== "") return text;
  return /^https?:$/.test(url.protocol) ? url.origin + url.pathname.replace(/\/+$/, "") : text;
}
