import { isRecord } from "./json.ts";

/** Part of the HTTP request that carries an argument. */
type ArgumentPlace = "path" | "query" | "header" | "cookie" | "body";

/** An argument as an app describes it. */
export interface DescribedArgument {
  readonly name: string;
  readonly place: ArgumentPlace;
  readonly description?: unknown;
  /** Its JSON Schema; references resolved. */
  readonly schema?: unknown;
  /** True when a call cannot do without. Default false. */
  readonly isRequired?: boolean;
  /** True when it names a thing of the app, as the last part of `/keys/{access_key}` does. Default false. */
  readonly isId?: boolean;
}

/** Names that mean a credential wherever they stand, in the form of {@link toWords}. */
const ALWAYS =
  /(?:^|_)(?:(?:access|oauth2?|auth|authentication|authorization|bearer|refresh|id|session|security|api|bot|app|dev|developer)_?token|(?:api|app|application|access|secret|private|auth|consumer|developer|subscription)_?key|secret|password|passwd|pwd|passphrase|jwt)$/;
const OF_HEADER = /(?:token|secret|key|password|credential|authorization)$/;
const NO_CREDENTIAL_HEADER =
  /idempot|page|next|continu|client_token|request|cache|partition|routing|[cx]srf|sync|surrogate|public/;
const OF_COOKIE = /sess|(?:^|_)sid$|auth|token|secret|key$/;
/** Names that mean many things: the description decides. */
const AMBIGUOUS = /^(?:token|auth|key)$/;
const SAYS_TOKEN =
  /authenticat|authori[sz]|api[ -]?(?:key|token)|access[ -]token|bearer|credential|oauth|\bsecrets?\b|\bbot token|log ?in\b|sign[ -]?in\b|\byour (?:\w+ )?token/i;
const SAYS_PAGE = /\bpage|paginat|\bnext\b|continu|cursor/i;
const SAYS_KEY = /\b(?:api|access|auth\w*|developer|subscription)[ _-]?key\b/i;

/**
 * Whether an argument is a credential: `yes`; `maybe` for a name that says too little, when it has no description; else `no`.
 * Only texts are: a switch or a choice of given values holds no secret.
 */
export function judgeArgument({ name, place, description, schema, isId }: DescribedArgument): "yes" | "maybe" | "no" {
  if (!isFreeText(schema) || isId === true) return "no";
  if (isRecord(schema) && schema.format === "password") return "yes";
  const words = toWords(name);
  if (ALWAYS.test(words)) return "yes";
  if (place === "header") return OF_HEADER.test(words) && !NO_CREDENTIAL_HEADER.test(words) ? "yes" : "no";
  if (place === "cookie") return OF_COOKIE.test(words) ? "yes" : "no";
  if (place === "query" && words === "authorization") return "yes";
  if (!AMBIGUOUS.test(words)) return "no";
  const told = [description, isRecord(schema) ? schema.description : undefined].filter(isText).join(" ");
  if (words === "key") return place !== "path" && SAYS_KEY.test(told) ? "yes" : "no";
  if (told === "") return place === "query" ? "yes" : "maybe";
  return SAYS_TOKEN.test(told) && !SAYS_PAGE.test(told) ? "yes" : "no";
}

/** True for a name that means a credential in any place, or means one more often than not. */
function isCredentialName(name: string): boolean {
  const words = toWords(name);
  return ALWAYS.test(words) || /^(?:token|auth|authorization)$/.test(words);
}

/**
 * Replacer for `JSON.stringify`: a text under the name of a credential is not written. An agent may send one although it is
 * asked for none, and what it sends is logged.
 */
export function hideCredential(name: string, value: unknown): unknown {
  return typeof value === "string" && value !== "" && isCredentialName(name) ? "[hidden]" : value;
}

/** `X-RapidAPI-Key` → `x_rapid_api_key`: one spelling for every convention. */
export function toWords(name: string): string {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, "$1_$2")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_")
    .replaceAll(/^_+|_+$/g, "");
}

function isFreeText(schema: unknown): boolean {
  if (!isRecord(schema)) return true;
  if (Array.isArray(schema.enum) || schema.const !== undefined) return false;
  return schema.type === undefined
    ? schema.properties === undefined && schema.items === undefined
    : [schema.type].flat().includes("string");
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}
