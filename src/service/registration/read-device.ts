import { pairStartRequestSchema } from "../../wire/registration.ts";
import { ServiceError } from "../service-error.ts";
import { cleanText } from "./clean-text.ts";

/** Longest device label and client name, in characters; longer ones are cut. */
const MAX_LABEL = 80;
const MAX_CLIENT = 40;

/**
 * Reads the optional body of a pairing start, cleaned for the page on which a human decides.
 *
 * @throws ServiceError 400, bare.
 */
export function readDevice(body: unknown): { deviceLabel: string | null; client: string | null } {
  const read = pairStartRequestSchema.safeParse(body);
  if (!read.success) {
    throw new ServiceError(400, "invalid_body", "`deviceLabel` and `client`, when sent, must be strings.", {
      bare: true,
    });
  }
  return { deviceLabel: cleanText(read.data.deviceLabel, MAX_LABEL), client: cleanText(read.data.client, MAX_CLIENT) };
}
