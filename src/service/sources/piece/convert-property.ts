import type { JsonSchema } from "../../../wire/tool.ts";
import { describeFileObject } from "../openapi/convert-schema.ts";
import type { PieceProperty } from "./piece-description.ts";

const DESCRIPTION_MAX = 2_000;

/** Where notes go, and how an agent finds the values of a field. */
export interface ConvertProperty {
  /** One sentence for each thing the owner should know. */
  note(text: string): void;
  /** What is added to the description of a field whose values are looked up; undefined when they cannot be. */
  describeLookup(property: PieceProperty): string | undefined;
}

/** JSON Schema (2020-12) of an object with these fields. */
export function convertProperties(properties: readonly PieceProperty[], o: ConvertProperty): JsonSchema {
  const shown = properties.filter(({ type }) => type !== "MARKDOWN");
  const required = shown.filter((one) => one.required && !hasDefault(one)).map(({ name }) => name);
  return {
    type: "object",
    properties: Object.fromEntries(shown.map((property) => [property.name, convertProperty(property, o)])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** JSON Schema of one field. */
function convertProperty(property: PieceProperty, o: ConvertProperty): JsonSchema {
  const { defaultValue } = property;
  const schema = convertType(property, o);
  const texts = [property.description || property.displayName, o.describeLookup(property)];
  const description = texts.filter(Boolean).join(" ").trim().slice(0, DESCRIPTION_MAX);
  return {
    ...schema,
    ...(description !== "" && { description: `${description}${describeOptions(property)}` }),
    ...(hasDefault(property) && isPlain(defaultValue) && { default: defaultValue }),
  };
}

function convertType(property: PieceProperty, o: ConvertProperty): JsonSchema {
  const { type, min, max, properties } = property;
  switch (type) {
    case "SHORT_TEXT":
    case "LONG_TEXT":
    case "SECRET_TEXT":
    case "COLOR":
    case "DROPDOWN":
      return { type: "string" };
    case "NUMBER":
      return { type: "number", ...(min !== undefined && { minimum: min }), ...(max !== undefined && { maximum: max }) };
    case "CHECKBOX":
      return { type: "boolean" };
    case "DATE_TIME":
      return { type: "string", format: "date-time" };
    case "JSON":
      return { type: ["object", "array"] };
    case "OBJECT":
    case "DYNAMIC":
      return { type: "object" };
    case "STATIC_DROPDOWN":
      return convertOptions(property);
    case "STATIC_MULTI_SELECT_DROPDOWN":
      return { type: "array", items: convertOptions(property) };
    case "MULTI_SELECT_DROPDOWN":
      return { type: "array", items: { type: "string" } };
    case "ARRAY":
      return {
        type: "array",
        items: properties === undefined ? { type: "string" } : convertProperties(properties, o),
      };
    case "FILE":
      return describeFileObject({});
    default:
      o.note(`The field "${property.name}" is of a kind that is not known here (${type}) and takes plain text.`);
      return { type: "string" };
  }
}

function convertOptions({ options = [] }: PieceProperty): JsonSchema {
  const values = options.map(({ value }) => value).filter(isPlain);
  if (values.length === 0) return { type: "string" };
  const types = new Set(values.map((value) => (value === null ? "null" : typeof value)));
  const [type] = types;
  return types.size === 1 ? { type, enum: values } : { enum: values };
}

/** Labels that say more than the values. */
function describeOptions({ options = [] }: PieceProperty): string {
  const told = options.filter(({ label, value }) => label !== "" && isPlain(value) && label !== String(value));
  if (told.length === 0 || told.length > 30) return "";
  return ` Values: ${told.map(({ label, value }) => `${JSON.stringify(value)} (${label})`).join(", ")}.`;
}

function hasDefault({ defaultValue }: PieceProperty): boolean {
  return defaultValue !== undefined && defaultValue !== null;
}

function isPlain(value: unknown): boolean {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}
