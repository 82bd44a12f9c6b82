type Json = Record<string, unknown>;

/** Takes members out of an object schema, so that they are refused also where it takes members that it does not name. */
export function dropMembers(schema: Json, names: readonly string[]): void {
  for (const name of names) forgetMember(schema, name);
  if (schema.additionalProperties === false) return;
  const no = { not: { enum: [...names] } };
  schema.propertyNames = schema.propertyNames === undefined ? no : { allOf: [schema.propertyNames, no] };
}

/** Takes one member out of an object schema; it may be named like any other one then. */
export function forgetMember(schema: Json, name: string): void {
  const { properties, required } = schema;
  if (typeof properties === "object" && properties !== null) {
    schema.properties = Object.fromEntries(Object.entries(properties).filter(([known]) => known !== name));
  }
  if (!Array.isArray(required)) return;
  const left = required.filter((one) => one !== name);
  if (left.length === 0) delete schema.required;
  else schema.required = left;
}
