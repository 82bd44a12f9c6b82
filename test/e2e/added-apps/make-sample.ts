type Json = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 8;

/** A value that a schema takes, with as little in it as can be. */
export function makeSample(schema: unknown, root: unknown = schema, depth = 0): unknown {
  if (!isObject(schema) || depth > MAX_DEPTH) return {};
  const make = (part: unknown) => makeSample(part, root, depth + 1);
  if (typeof schema.$ref === "string") return makeSample(follow(root, schema.$ref), root, depth + 1);
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const chosen = Array.isArray(schema.allOf) ? schema.allOf : [schema.anyOf, schema.oneOf].flatMap(takeFirst);
  const [type] = [schema.type].flat();
  if (type === undefined && chosen.length > 0 && schema.properties === undefined) {
    const made = chosen.map(make);
    return made.every(isObject) ? Object.assign({}, ...made) : made[0];
  }
  switch (type) {
    case "string":
      return makeText(schema);
    case "integer":
    case "number":
      return typeof schema.minimum === "number" ? schema.minimum : 1;
    case "boolean":
      return true;
    case "null":
      return null;
    case "array":
      return Array.from({ length: Number(schema.minItems ?? 0) }, () => make(schema.items));
    default:
      return makeObject(schema, chosen, make);
  }
}

/** What a branch requires may be described beside the branches. */
function makeObject(schema: Json, chosen: readonly unknown[], make: (part: unknown) => unknown): Json {
  const known = [...chosen, schema].map((part) => (isObject(part) && isObject(part.properties) ? part.properties : {}));
  const properties: Json = Object.assign({}, ...known);
  const required = [schema, ...chosen].flatMap((part) => (isObject(part) ? part.required : undefined) ?? []);
  const own = required.map((name) => [String(name), make(properties[String(name)] ?? {})] as const);
  return Object.assign({}, ...chosen.map(make).filter(isObject), Object.fromEntries(own));
}

function takeFirst(list: unknown): unknown[] {
  return Array.isArray(list) ? list.slice(0, 1) : [];
}

/** Texts that meet the formats and patterns of GitHub's document. */
const TEXTS = [
  "a",
  "1.0.0",
  "2026-01-01",
  "2026-01-01T00:00:00Z",
  "https://example.org/",
  "a@example.org",
  "a".repeat(40),
  `sha256:${"a".repeat(64)}`,
  "refs/heads/a",
  "ssh-rsa a",
  "2026-01",
  "A1",
];

function makeText({ format, minLength = 1, pattern }: Json): string {
  if (format === "date-time") return "2026-01-01T00:00:00Z";
  if (format === "date") return "2026-01-01";
  if (format === "uri") return "https://example.org/";
  if (format === "email") return "a@example.org";
  const test = new RegExp(typeof pattern === "string" ? pattern : "", "u");
  return TEXTS.find((text) => text.length >= Number(minLength) && test.test(text)) ?? "a".repeat(Number(minLength));
}

function follow(root: unknown, reference: string): unknown {
  let found = root;
  for (const key of reference.slice(2).split("/")) found = isObject(found) ? found[key] : undefined;
  return found;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
