import { refuseSetting } from "../../service/service-error.ts";
import { judgeArgument, toWords } from "../../shared/base/credential-name.ts";
import { isRecord } from "../../shared/base/json.ts";
import { type SourceContent, toFreeName } from "../port/source-content.ts";
import { nameKind, quoteDocument } from "./credential-plan.ts";
import type { OpenApiDefinition } from "./openapi-definition.ts";

type SettingField = SourceContent["settingsForm"][number];
type Variable = OpenApiDefinition["variables"][number];

/** The address of an API whose open parts are settings of the connection. */
export interface AddressTemplate {
  /** With `{name}` for each open part. */
  readonly address: string;
  readonly variables: readonly Variable[];
  readonly fields: readonly SettingField[];
}

/** Values that documents give as a default and that are no address of anybody. */
const EXAMPLE = /example|your|none|unknown|localhost|hostname|[{}<>]|^$/i;
const HELP_MAX = 200;

interface Server {
  readonly url: string;
  readonly variables: unknown;
}

/**
 * Address of the first server of a document, with its variables; of one without servers, the one that most of its operations
 * name. Undefined when there is none.
 */
export function findServer(document: unknown): Server | undefined {
  if (!isRecord(document)) return undefined;
  const [server] = listServers(document);
  if (server !== undefined) return server;
  const items = Object.values(isRecord(document.paths) ? document.paths : {}).filter(isRecord);
  const own = items.flatMap((item) => [item, ...Object.values(item).filter(isRecord)].flatMap(listServers));
  const groups = [...Map.groupBy(own, ({ url }) => toPlainAddress(url)).values()];
  return groups.sort((one, other) => other.length - one.length)[0]?.[0];
}

function listServers({ servers }: Record<string, unknown>): Server[] {
  const given = Array.isArray(servers) ? servers.filter(isRecord) : [];
  return given.flatMap(({ url, variables }) => (typeof url === "string" ? [{ url, variables }] : []));
}

/** One spelling for all addresses that are the same (RFC 3986, 6.2.3). */
export function toPlainAddress(address: string): string {
  const whole = address.startsWith("//") ? `https:${address}` : address;
  return (URL.parse(whole)?.href ?? whole).replace(/\/+$/, "");
}

/**
 * Fills in what a document has a list of values for, and makes a setting of every other part. A secret one has no default:
 * what a document shows there is an example.
 *
 * @param taken names of settings that mean something else
 */
export function readAddressTemplate(
  { url, variables }: { url: string; variables: unknown },
  taken: ReadonlySet<string>,
): AddressTemplate {
  const declared = isRecord(variables) ? variables : {};
  const found: Variable[] = [];
  const fields: SettingField[] = [];
  const address = url.replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => {
    const variable = isRecord(declared[name]) ? declared[name] : {};
    const value = typeof variable.default === "string" ? variable.default : undefined;
    if (Array.isArray(variable.enum) && value !== undefined) return value;
    if (found.some((one) => one.name === name)) return whole;
    const isSecret = isSecretPart(name, variable, value);
    const fallback = isSecret || value === undefined || EXAMPLE.test(value) ? undefined : value;
    const isTaken = (wanted: string) => taken.has(wanted) || found.some(({ setting }) => setting === wanted);
    const setting = toFreeName(toWords(name) || "part", isTaken);
    found.push({ name, setting, ...(fallback !== undefined && { fallback }) });
    fields.push(describeField({ name, setting, fallback }, { url, isSecret, description: variable.description }));
    return whole;
  });
  return { address, variables: found, fields };
}

function isSecretPart(name: string, { description }: Record<string, unknown>, value: string | undefined): boolean {
  // In an address a token or key is nothing else, whatever its description says.
  if (/^(token|key|auth)$/.test(toWords(name))) return true;
  if (judgeArgument({ name, place: "header", description }) === "yes") return true;
  return value !== undefined && /^(?=.*\d)(?=.*[A-Za-z])[\w:+=-]{16,}$/.test(value);
}

function describeField(
  { name, setting, fallback }: Variable,
  { url, isSecret, description }: { url: string; isSecret: boolean; description: unknown },
): SettingField {
  const usual = fallback === undefined ? "" : ` Left empty: ${fallback}.`;
  const help = `Stands for {${name}} in the address ${url.slice(0, HELP_MAX)}.${usual}${quoteDocument(description)}`;
  const optional = fallback === undefined ? {} : { optional: true };
  const label = isSecret ? `${nameKind(name)} “${name}”` : `Part “${name}” of the address`;
  return { name: setting, label, kind: isSecret ? "secret" : "text", ...optional, help };
}

/**
 * The address that calls of a connection go to, without a slash at its end.
 *
 * @throws ServiceError 422 `integration_misconfigured` naming the setting that is missing or cannot stand there; never with
 *   its value.
 */
export function fillAddress(
  { baseUrl, variables, isPrivate }: Pick<OpenApiDefinition, "baseUrl" | "variables" | "isPrivate">,
  settings: Readonly<Record<string, unknown>>,
): string {
  if (variables.length === 0) return baseUrl;
  const start = /^[a-z]+:\/\/[^/]*/i.exec(baseUrl)?.[0].length ?? 0;
  const filled = baseUrl.replaceAll(/\{([^{}]+)\}/g, (whole, name: string, at: number) => {
    const variable = variables.find((one) => one.name === name);
    if (variable === undefined) return whole;
    const { setting, fallback } = variable;
    const value = typeof settings[setting] === "string" && settings[setting] !== "" ? settings[setting] : fallback;
    if (value === undefined) throw refuseSetting(setting, "is needed.");
    const written =
      start === 0 && at === 0 ? value.replace(/\/+$/, "") : at < start ? readHost(value) : readPath(value);
    if (written === undefined) throw refuseSetting(setting, "cannot be a part of an address as it is.");
    return written;
  });
  const url = URL.parse(filled);
  const isUsable = url !== null && (url.protocol === "https:" || (isPrivate && url.protocol === "http:"));
  if (!isUsable || url.username || url.password || url.search || url.hash) {
    throw refuseSetting(variables[0]?.setting ?? "", "does not make an address that may be called.");
  }
  return url.href.replace(/\/+$/, "");
}

function readHost(value: string): string | undefined {
  return /^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::\d{1,5})?$/.test(value) ? value : undefined;
}

/** Tokens of an address hold colons as they are. */
function readPath(value: string): string | undefined {
  const parts = value.split("/");
  if (parts.some((part) => part === "." || part === "..")) return undefined;
  return parts.map((part) => encodeURIComponent(part).replaceAll("%3A", ":")).join("/");
}
