import { z } from "zod";

/** A JSON object as it is, with every member: `z.record` leaves one out that is called `__proto__`. */
export const jsonObject = z.custom<Record<string, unknown>>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  "must be an object",
);

/** The same for arguments whose JSON Schema a model is shown: an object with any members. */
export const openArguments = z
  .unknown()
  .meta({ type: "object", propertyNames: { type: "string" }, additionalProperties: {} })
  .pipe(jsonObject);
