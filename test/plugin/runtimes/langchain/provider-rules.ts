import { isRecord } from "../../../../src/shared/base/json.ts";
import type { ProviderClient, SentTool } from "./provider-clients.ts";

/** What the providers publish about tools, as far as a request can break it. */

type Node = Record<string, unknown>;
type Complain = (what: string) => void;

/** What is wrong with a tool by the rules of its provider, one line each. */
export function findViolations({ rules }: ProviderClient, tool: SentTool): string[] {
  const found: string[] = [];
  const complain: Complain = (what) => void found.push(`${tool.name}: ${what}`);
  const { name, description, schema } = tool;
  if (!NAMES[rules].test(name)) complain("illegal name");
  if (typeof description !== "string" || description === "") complain("no description");
  // Google takes a tool without parameters.
  if (schema === undefined && rules === "gemini") return found;
  if (!isRecord(schema) || schema.type !== "object") complain("root is no object");
  else if (rules === "gemini") checkGoogleNode(schema, complain);
  else checkJsonSchema(schema, rules, complain);
  return found;
}

const NAMES = {
  openai: /^[a-zA-Z0-9_-]{1,64}$/,
  anthropic: /^[a-zA-Z0-9_-]{1,128}$/,
  gemini: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/,
};

/** OpenAI and Anthropic take JSON Schema 2020-12 with an object as its root and no alternatives there. */
function checkJsonSchema(schema: Node, rules: "openai" | "anthropic", complain: Complain): void {
  for (const keyword of ["oneOf", "anyOf", "allOf", "enum", "not", "$ref"]) {
    if (schema[keyword] !== undefined) complain(`${keyword} at the root`);
  }
  visit(schema, (node) => {
    const types = typesOf(node).filter((type) => type !== undefined);
    if (types.some((type) => !JSON_TYPES.includes(String(type)))) complain(`type ${JSON.stringify(node.type)}`);
    if (node.properties !== undefined && !isRecord(node.properties)) complain("properties that are no object");
    for (const keyword of ["required", "enum", "anyOf"]) {
      if (node[keyword] !== undefined && !Array.isArray(node[keyword])) complain(`${keyword} that is no list`);
    }
    if (Array.isArray(node.anyOf) && node.anyOf.length === 0) complain("an empty anyOf");
    if (node.$ref !== undefined) complain("a reference");
    // OpenAI: "array schema missing items".
    if (rules === "openai" && typesOf(node).includes("array") && node.items === undefined)
      complain("a list without items");
    const keys = isRecord(node.properties) ? Object.keys(node.properties) : [];
    const bad = rules === "anthropic" ? keys.find((key) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(key)) : undefined;
    if (bad !== undefined) complain(`key ${JSON.stringify(bad)}`);
  });
}

const JSON_TYPES = ["string", "number", "integer", "boolean", "array", "object", "null"];

function typesOf({ type }: Node): unknown[] {
  return Array.isArray(type) ? type : [type];
}

function visit(node: unknown, see: (node: Node) => void): void {
  if (!isRecord(node)) return;
  see(node);
  for (const keyword of ["items", "additionalProperties"]) visit(node[keyword], see);
  for (const part of Array.isArray(node.anyOf) ? node.anyOf : []) visit(part, see);
  for (const part of Object.values(isRecord(node.properties) ? node.properties : {})) visit(part, see);
}

/** Members of the Schema object of Google's function declarations; any other one fails the whole request. */
const GOOGLE_FIELDS = new Set(
  "type format title description nullable enum maxItems minItems properties required minProperties maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum".split(
    " ",
  ),
);
const GOOGLE_TYPES = ["string", "number", "integer", "boolean", "array", "object"];
const GOOGLE_FORMATS: Readonly<Record<string, readonly string[]>> = {
  string: ["enum", "date-time"],
  integer: ["int32", "int64"],
  number: ["float", "double"],
};

function checkGoogleNode(node: Node, complain: Complain): void {
  for (const keyword of Object.keys(node)) if (!GOOGLE_FIELDS.has(keyword)) complain(`unknown name ${keyword}`);
  const type = typeof node.type === "string" ? node.type.toLowerCase() : node.type;
  if (type !== undefined && (typeof type !== "string" || !GOOGLE_TYPES.includes(type))) {
    complain(`type ${JSON.stringify(node.type)}`);
  }
  if (type === "array" && !isRecord(node.items)) complain("a list without items");
  if (node.format !== undefined && GOOGLE_FORMATS[String(type)]?.includes(String(node.format)) !== true) {
    complain(`format ${String(node.format)} of ${String(type)}`);
  }
  if (node.enum !== undefined) {
    const isText = Array.isArray(node.enum) && node.enum.every((value) => typeof value === "string" && value !== "");
    if (!isText || (type !== undefined && type !== "string")) complain("an enum of other values than texts");
  }
  const keys = isRecord(node.properties) ? Object.keys(node.properties) : [];
  for (const key of Array.isArray(node.required) ? node.required : []) {
    if (!keys.includes(String(key))) complain(`required ${String(key)} is no property`);
  }
  if (Array.isArray(node.anyOf) && node.anyOf.length === 0) complain("an empty anyOf");
  for (const part of [node.items, ...(Array.isArray(node.anyOf) ? node.anyOf : [])]) {
    if (isRecord(part)) checkGoogleNode(part, complain);
  }
  for (const part of Object.values(isRecord(node.properties) ? node.properties : {})) {
    if (isRecord(part)) checkGoogleNode(part, complain);
  }
}
