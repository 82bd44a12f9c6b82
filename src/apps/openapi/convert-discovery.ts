import { isRecord } from "../../shared/base/json.ts";

type Json = Record<string, unknown>;

/** True for a document in which Google describes one of its APIs (Google API Discovery, version 1). */
export function isDiscovery(document: unknown): document is Json {
  return isRecord(document) && document.kind === "discovery#restDescription" && isRecord(document.schemas ?? {});
}

const SIGN_IN = "google";
const KEY = "key";
const FLOW = {
  authorizationUrl: "https://accounts.google.com/o/oauth2/v2/auth",
  tokenUrl: "https://oauth2.googleapis.com/token",
};

/** Parameters of every method that change what an agent gets; the others are about keys, quotas and layout. */
const SHARED = ["alt", "fields"];

/** Writes a Google Discovery document as one of OpenAPI 3.0. What it says of uploads has no place there. */
export function convertDiscovery(document: Json): Json {
  const { title, version, description, schemas, rootUrl, servicePath } = document;
  const scopes = readMembers(readMembers(readMembers(document.auth).oauth2).scopes);
  const flow = { ...FLOW, scopes: mapMembers(scopes, (scope) => readMembers(scope).description) };
  const paths: Record<string, Json> = {};
  for (const method of listMethods(document)) {
    const path = `/${String(method.path).replace(/^\//, "")}`.replaceAll("{+", "{");
    const converted = convertMethod(method, readMembers(document.parameters));
    paths[path] = { ...paths[path], [String(method.httpMethod).toLowerCase()]: converted };
  }
  return {
    openapi: "3.0.3",
    info: { title, version, description },
    servers: [{ url: `${rootUrl ?? "https://www.googleapis.com/"}${servicePath ?? ""}` }],
    components: {
      schemas: mapMembers(readMembers(schemas), convertSchema),
      securitySchemes: {
        [SIGN_IN]: { type: "oauth2", flows: { authorizationCode: flow } },
        [KEY]: { type: "apiKey", in: "query", name: "key" },
      },
    },
    paths,
  };
}

function listMethods(resource: Json): Json[] {
  const own = Object.values(readMembers(resource.methods)).filter(isRecord);
  const below = Object.values(readMembers(resource.resources)).filter(isRecord).flatMap(listMethods);
  return [...own, ...below];
}

function convertMethod(method: Json, shared: Json): Json {
  const own = readMembers(method.parameters);
  const ofAll = Object.fromEntries(Object.entries(shared).filter(([name]) => SHARED.includes(name)));
  const isOpen = (name: string) => String(method.path).includes(`{+${name}}`);
  const parameters = Object.entries({ ...ofAll, ...own }).flatMap(([name, given]) => {
    if (!isRecord(given)) return [];
    const { location, required, repeated, description } = given;
    const one = convertSchema({ ...given, required: undefined });
    const schema = repeated === true ? { type: "array", items: one } : one;
    // Any resource name may stand there, such as projects/one/topics/two.
    const allowReserved = isOpen(name) ? { allowReserved: true } : {};
    return [{ name, in: location, description, required: required === true, schema, ...allowReserved }];
  });
  const scopes = Array.isArray(method.scopes) ? method.scopes : [];
  const body = isRecord(method.request) ? convertSchema(method.request) : undefined;
  return {
    operationId: method.id,
    description: method.description,
    parameters,
    ...(body !== undefined && { requestBody: { content: { "application/json": { schema: body } } } }),
    // One of the scopes is enough.
    security: scopes.length === 0 ? [{ [KEY]: [] }] : scopes.map((scope) => ({ [SIGN_IN]: [scope] })),
    responses: {},
  };
}

const NUMBERS = ["minimum", "maximum"] as const;

/** A schema of JSON Schema draft 3, as far as Discovery has it. */
function convertSchema(given: unknown): Json {
  const { $ref, type, properties, items, additionalProperties, ...rest } = readMembers(given);
  if (typeof $ref === "string") return { $ref: `#/components/schemas/${$ref}` };
  const kept: Json = {};
  for (const name of ["description", "format", "enum", "pattern", "readOnly"]) {
    if (rest[name] !== undefined) kept[name] = rest[name];
  }
  for (const name of NUMBERS) if (type !== "string" && rest[name] !== undefined) kept[name] = Number(rest[name]);
  if (type !== undefined && type !== "any") kept.type = type;
  if (isRecord(properties)) {
    kept.properties = mapMembers(properties, convertSchema);
    const required = Object.keys(properties).filter((name) => readMembers(properties[name]).required === true);
    if (required.length > 0) kept.required = required;
  }
  if (items !== undefined) kept.items = convertSchema(items);
  if (additionalProperties !== undefined) kept.additionalProperties = convertSchema(additionalProperties);
  return kept;
}

function readMembers(value: unknown): Json {
  return isRecord(value) ? value : {};
}

function mapMembers(members: Json, change: (value: unknown) => unknown): Json {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, change(value)]));
}
